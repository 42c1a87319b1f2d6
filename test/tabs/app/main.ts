/** The page of the tab tests: it says when its module has run. The tests drive it with `page.evaluate`. */
document.documentElement.dataset["ready"] = "true";
