/**
 * Earthquake desk: the demo of wakeful. Address parameters: `?auto=1` reviews by itself, `?name=…` opens another
 * database than the usual one.
 */
import { openStores, type Stores } from "wakeful";
import { ApprovalList } from "./approval-list.js";
import { reviewByItself } from "./auto-reviewer.js";
import { showCard } from "./cards.js";
import { ChangeFeed } from "./change-feed.js";
import { DatabasePanel } from "./database-panel.js";
import { byId, setText } from "./element.js";
import { EventMap } from "./event-map.js";
import { followDatabase } from "./follow-database.js";
import { loadFeed } from "./load-feed.js";
import { ImportCard } from "./import-card.js";
import { announce, showProblem } from "./notices.js";
import { keepForOffline } from "./offline.js";
import { paced } from "./paced.js";
import { watchPresence } from "./presence.js";
import { describeProblem } from "./problem-text.js";
import { countProgress, type Progress, stageOf } from "./progress.js";
import { showProgress } from "./progress-bar.js";
import { Queue, QUEUE_ID } from "./queue.js";
import { ReviewDesk } from "./review-desk.js";
import { ReviewPanel } from "./review-panel.js";
import { becomeReviewer } from "./reviewer.js";
import { offerExport } from "./export-button.js";
import { showWaits } from "./wait-list.js";
import type { Waits } from "./waits.js";
import { drawWeek } from "./week-map.js";
import { loadLandPath } from "./world.js";
import { showFinished, waitingText } from "./stage-text.js";

const address = new URLSearchParams(location.search);

byId("reload", HTMLButtonElement).addEventListener("click", () => location.reload());
byId("open-tab", HTMLButtonElement).addEventListener("click", () => window.open(location.href, "_blank", "noopener"));

try {
  await start(await openStores({ name: address.get("name") ?? "earthquake-desk", persist: true }));
} catch (error) {
  const { title, advice } = describeProblem(error);
  setText("failed-title", title);
  setText("failed-advice", advice);
  setText("failed-detail", error instanceof Error ? error.message : String(error));
  showCard("failed");
}

async function start(stores: Stores): Promise<void> {
  const database = new DatabasePanel();
  const changes = new ChangeFeed(stores, (sequence) => database.update({ sequence }));
  followDatabase(stores, { database, onStart: (sequence) => void changes.follow(sequence).catch(showProblem) });
  void keepForOffline((offline) => database.update({ offline }));

  const [reviewer, feed, landPath] = await Promise.all([becomeReviewer(), loadFeed(), loadLandPath()]);
  drawWeek(landPath, feed);
  setText("reviewer-name", reviewer.name);
  byId("reviewer", HTMLElement).hidden = false;
  document.title = `${reviewer.name} – Earthquake desk`;

  const queue = stores.store(Queue, QUEUE_ID);
  const panel = new ReviewPanel(feed, new EventMap(byId("map", HTMLElement), landPath, feed));
  const imports = new ImportCard(stores, queue, feed);
  const drawProgress = paced(100, showProgress);
  const drawWaits = paced(150, ({ all }: Waits) => showWaits(all));
  let progress: Progress | null = null;
  let reviewing = false;

  const show = (): void => {
    if (progress === null) return;
    const stage = stageOf(progress);
    showCard(reviewing ? "reviewing" : stage === "reviewing" ? "waiting" : stage);
    byId("week", HTMLElement).hidden = reviewing;
    setText("waiting-text", waitingText(progress));
    byId("export-row", HTMLElement).hidden = progress.total === 0;
  };

  const desk: ReviewDesk = new ReviewDesk(stores, reviewer, {
    rate(quake, gone) {
      reviewing = true;
      show();
      return panel.rate(quake, gone);
    },
    idle() {
      reviewing = false;
      show();
    },
    tell: announce,
    problem: (error) => showProblem(error),
    waitsChanged: () => drawWaits(desk.waits),
  });
  const approvals = new ApprovalList({
    reviewer,
    decide: (eventId, request, approved) => desk.decide(eventId, request, approved).catch(showProblem),
  });

  queue.watch(countProgress, (counted) => {
    progress = counted;
    drawProgress(counted);
    imports.show(counted);
    show();
  });
  queue.watch(
    (state) => state.approvals,
    (requests) => approvals.show(requests),
  );
  queue.watch((state) => state.reviewed, showFinished);
  watchPresence({
    queue,
    onPresent: (present) => database.update({ tabs: present.size }),
    onError: (error) => void showProblem(error),
  });
  offerExport(stores);
  if (address.get("auto") === "1") reviewByItself();
  await desk.run();
}
