// Conveniences. Every page says and does the same without them.

/** Shows what is of use only where this module runs. */
function reveal(selector) {
  for (const element of document.querySelectorAll(selector)) element.hidden = false;
}

/** @param {HTMLButtonElement} button */
async function copy(button) {
  const source = document.getElementById(button.dataset.copy ?? "");
  const label = button.firstChild;
  if (!source || !label) return;
  try {
    await navigator.clipboard.writeText(source.innerText.trim());
    label.textContent = "Copied";
  } catch {
    getSelection()?.selectAllChildren(source);
    label.textContent = "Selected";
  }
  setTimeout(() => { label.textContent = "Copy"; }, 1600);
}

/** Hides the rows whose first cell does not hold the words. @param {HTMLInputElement} input */
function filter(input) {
  const words = input.value.trim().toLowerCase();
  const rows = document.querySelectorAll(`#${input.dataset.filter} tbody tr`);
  let shown = 0;
  for (const row of rows) {
    row.hidden = !row.querySelector("th")?.textContent?.replace(/\s+/g, "").toLowerCase().includes(words);
    shown += row.hidden ? 0 : 1;
  }
  const nothing = document.querySelector(`[data-nothing="${input.dataset.filter}"]`);
  if (nothing) nothing.hidden = shown > 0;
}

/** @param {string} words */
function tell(words) {
  const status = document.getElementById("tools-status");
  if (status) status.textContent = words;
}

/** @param {HTMLInputElement} input */
async function open(input) {
  const into = document.getElementById(input.dataset.into ?? "");
  const file = input.files?.[0];
  if (!file || !into) return;
  into.value = await file.text();
  tell(`${file.name} is in the box; nothing was sent.`);
}

/** @param {HTMLButtonElement} button */
function tidy(button) {
  const box = document.getElementById(button.dataset.tidy ?? "");
  try {
    box.value = JSON.stringify(JSON.parse(box.value), null, 2);
    tell("Tidied up.");
  } catch (error) {
    tell(`This is no JSON: ${error.message}`);
  }
}

/** The arrow keys walk along the strip, which is then one stop of the Tab key. @param {HTMLElement} strip */
function walk(strip) {
  const stops = [...strip.querySelectorAll("a")];
  const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -stops.length, End: stops.length };
  stops.forEach((stop, place) => { stop.tabIndex = place ? -1 : 0; });
  strip.addEventListener("keydown", (event) => {
    const at = stops.indexOf(document.activeElement);
    if (at < 0 || !(event.key in moves)) return;
    event.preventDefault();
    const next = stops[Math.min(Math.max(at + moves[event.key], 0), stops.length - 1)];
    for (const stop of stops) stop.tabIndex = stop === next ? 0 : -1;
    next.focus();
  });
}

/** Brings a part of another page where a link to it stands; the link stays where that fails. @param {HTMLElement} place */
async function bring(place) {
  const told = place.querySelector("[role=status]");
  if (told) told.textContent = "Loading.";
  try {
    const answer = await fetch(place.dataset.lazy ?? "", { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = answer.ok ? page.getElementById("matrix-body") : null;
    if (part) place.append(document.adoptNode(part));
  } catch { /* the link is there */ }
  if (told) told.textContent = "";
}

/** What a screen reader is told of something that changed by itself. @param {string} words */
function announce(words) {
  const news = document.getElementById("news");
  if (news) news.textContent = words;
}

/** @param {number} size */
function readable(size) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let step = 0;
  for (; size >= 1024 && step < units.length - 1; step += 1) size /= 1024;
  return `${step ? size.toFixed(1) : size} ${units[step]}`;
}

/** Shows how far the reading of headers is, and then the page that counts them. @param {HTMLElement} place */
function follow(place) {
  const bar = place.querySelector("progress");
  const source = new EventSource(place.dataset.follow ?? "");
  source.addEventListener("progress", (event) => {
    const { state, files, bytes } = JSON.parse(event.data);
    const title = place.querySelector("h2");
    title.textContent = title.dataset[state] ?? title.textContent;
    if (files.total) {
      bar.max = files.total;
      bar.value = files.done;
      place.querySelector("[data-files]").textContent = `${files.done} of ${files.total} files`;
    }
    place.querySelector("[data-bytes]").textContent = readable(bytes);
  });
  source.addEventListener("end", () => { source.close(); renew(); });
  // Asked again by itself it would begin the reading anew; the link to look again is there.
  source.addEventListener("error", () => source.close());
}

/** Puts the page as it is now in the place of this one, unless somebody is busy with its form. */
async function renew() {
  const main = document.getElementById("main");
  const words = "The headers were read; look again to see the answer that counts them.";
  if (document.activeElement?.closest("form")) {
    announce(words);
    return;
  }
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const inside = main.contains(document.activeElement);
    document.title = page.title;
    main.replaceChildren(...[...page.getElementById("main").childNodes].map((node) => document.adoptNode(node)));
    if (inside) main.focus();
    enliven();
    announce(document.querySelector("[data-follow]") ? words : "The headers were read, and the answer counts them.");
  } catch {
    announce(words);
  }
}

const near = new IntersectionObserver((seen) => {
  for (const entry of seen) if (entry.isIntersecting) { near.unobserve(entry.target); bring(entry.target); }
}, { rootMargin: "400px" });

/** Makes what the page holds now more convenient. */
function enliven() {
  reveal(".copy, .filter, .tools");
  document.querySelectorAll(".strip").forEach(walk);
  for (const place of document.querySelectorAll("[data-lazy]")) near.observe(place);
}

enliven();
document.querySelectorAll("[data-follow]").forEach(follow);
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.copy) copy(button);
  if (button?.dataset.tidy) tidy(button);
});
document.addEventListener("input", (event) => { if (event.target.dataset.filter) filter(event.target); });
document.addEventListener("change", (event) => { if (event.target.dataset.into) open(event.target); });
