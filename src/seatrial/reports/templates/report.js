"use strict";
// Search: hides the transcripts that do not hold the words. Links to a transcript open it.
const transcripts = [...document.querySelectorAll("details.transcript")];
document.getElementById("search").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const one of transcripts) one.hidden = wanted !== "" && !one.textContent.toLowerCase().includes(wanted);
});
const open = () => { const one = document.getElementById(location.hash.slice(1)); if (one && one.tagName === "DETAILS") { one.open = true; one.scrollIntoView(); } };
addEventListener("hashchange", open);
open();
