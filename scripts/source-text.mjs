/**
 * Reads TypeScript and JavaScript far enough for the architecture rules: which text is code, which is comment, and
 * what a file imports. A tokenizer, no parser: TypeScript 7 has no JavaScript API, and this runs before any install.
 */

/**
 * Splits a source into masks of the same length and lines: `code` (comments and the contents of strings blank),
 * `comments` (all but comments blank) and `plain` (comments blank, strings kept).
 */
export function maskSource(text) {
  const code = blank(text);
  const comments = blank(text);
  const plain = blank(text);
  const copy = (mask, from, to) => {
    for (let at = from; at < to; at++) mask[at] = text[at];
  };
  // Open braces of the templates around the current place, so that a `}` is known to end a `${` or not.
  const templates = [];
  let at = 0;
  let last = "";
  while (at < text.length) {
    const from = at;
    const two = text.slice(at, at + 2);
    if (two === "//" || two === "/*") {
      at = two === "//" ? indexOr(text, "\n", at) : indexOr(text, "*/", at + 2) + 2;
      copy(comments, from, at);
      continue;
    }
    const character = text[at];
    const endsHole = character === "}" && templates.length > 0 && templates.at(-1) === 0;
    if (character === "`" || endsHole) {
      if (endsHole) templates.pop();
      at = endOfTemplatePart(text, at + 1);
      if (text.slice(at - 2, at) === "${") templates.push(0);
      copy(plain, from, at);
      code[from] = code[at - 1] = "`";
      last = "`";
      continue;
    }
    if (character === '"' || character === "'" || (character === "/" && startsRegularExpression(last, text, at))) {
      at = character === "/" ? endOfRegularExpression(text, at + 1) : endOfString(text, at + 1, character);
      copy(plain, from, at);
      code[from] = code[at - 1] = character;
      last = character;
      continue;
    }
    if (templates.length > 0 && character === "{") templates[templates.length - 1] += 1;
    if (templates.length > 0 && character === "}") templates[templates.length - 1] -= 1;
    code[at] = plain[at] = character;
    if (/\S/.test(character)) last = character;
    at += 1;
  }
  return { code: code.join(""), comments: comments.join(""), plain: plain.join("") };
}

/** What a file imports or re-exports: `{ specifier, line }`, type-only and dynamic imports included. */
export function importsOf(source) {
  const pattern = /\b(?:import|export)\b[^;"'`=()]*?\bfrom\s*(["'])(.+?)\1|\bimport\s*\(?\s*(["'])(.+?)\3/g;
  return [...source.plain.matchAll(pattern)]
    .filter((match) => /\w/.test(source.code[match.index]))
    .map((match) => ({ specifier: match[2] ?? match[4], line: lineAt(source.plain, match.index) }));
}

/** The number of the line, from 1, that holds the character at `index`. */
export function lineAt(text, index) {
  return text.slice(0, index).split("\n").length;
}

// By UTF-16 unit, as every index here counts.
function blank(text) {
  return text.split("").map((unit) => (unit === "\n" ? "\n" : " "));
}

function indexOr(text, wanted, from) {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found;
}

function endOfString(text, at, quote) {
  while (at < text.length && text[at] !== quote && text[at] !== "\n") at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfTemplatePart(text, at) {
  while (at < text.length && text[at] !== "`" && text.slice(at, at + 2) !== "${") at += text[at] === "\\" ? 2 : 1;
  return at + (text[at] === "`" ? 1 : 2);
}

function endOfRegularExpression(text, at) {
  let inClass = false;
  while (at < text.length && text[at] !== "\n" && (inClass || text[at] !== "/")) {
    if (text[at] === "[") inClass = true;
    if (text[at] === "]") inClass = false;
    at += text[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}

// After a value a slash divides; after an operator, an opening bracket or a keyword it starts a regular expression.
function startsRegularExpression(last, text, at) {
  if (last === "" || "(,=:[!&|?{};+-*%~^<>".includes(last)) return true;
  return /\b(?:return|typeof|case|in|of|void|await|yield)\s*$/.test(text.slice(Math.max(0, at - 12), at));
}
