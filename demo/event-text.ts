/** The facts of an event in words and figures, the same for every reader: UTC, kilometres, English. */
import type { EarthquakeFacts, Rating } from "./earthquake.js";

const dateTime = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const wholeNumber = new Intl.NumberFormat("en-US");

export const ratingLabels: Readonly<Record<Rating, string>> = {
  minor: "Minor",
  felt: "Felt",
  notable: "Notable",
  alarming: "Alarming",
};

export function formatCount(count: number): string {
  return wholeNumber.format(count);
}

export function formatTime(milliseconds: number): string {
  return `${dateTime.format(milliseconds)} UTC`;
}

export function formatDay(milliseconds: number): string {
  return day.format(milliseconds);
}

export function formatDepth(kilometres: number): string {
  const size = `${Math.abs(kilometres).toFixed(Math.abs(kilometres) < 10 ? 1 : 0)} km`;
  return kilometres < 0 ? `${size} above sea level` : size;
}

export function formatMagnitude(magnitude: number): string {
  return magnitude.toFixed(1).replace("-", "−");
}

export function formatCoordinates({ latitude, longitude }: Pick<EarthquakeFacts, "latitude" | "longitude">): string {
  const part = (value: number, positive: string, negative: string): string =>
    `${Math.abs(value).toFixed(2)}° ${value < 0 ? negative : positive}`;
  return `${part(latitude, "N", "S")}, ${part(longitude, "E", "W")}`;
}

/** Bytes in the unit that leaves at most three digits before the point. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}

/** The share of the week's events that were weaker than this one, in words. */
export function formatRank(magnitude: number, all: readonly { readonly magnitude: number }[]): string {
  const stronger = all.filter((event) => event.magnitude > magnitude).length;
  if (stronger === 0) return "The strongest of the week";
  if (stronger < 10) return `Only ${stronger} stronger this week`;
  const weaker = all.filter((event) => event.magnitude < magnitude).length;
  return `Stronger than ${Math.floor((weaker / all.length) * 100)} % of the week`;
}

/** A path in the way a program would write it: `desks.basalt-1f2a.holding`, `waiting[12]`; the root is a dot. */
export function formatPath(path: readonly (string | number)[]): string {
  if (path.length === 0) return ".";
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}
