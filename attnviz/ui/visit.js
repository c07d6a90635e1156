// After a lost connection the server may have forgotten this page: it refuses its downloads and
// does not know its parts. A run tells whose visit it is; where it is another, the page is loaded
// anew, with the state that stands in its address.
const STATE = "data-test-connection-state";
let visit = null;
let watcher = null;
let ask = () => {};

export default function ({ setTriggerValue, data }) {
  if ((visit ||= data.visit) !== data.visit) location.reload();
  ask = () => setTriggerValue("back", performance.now());
  const app = document.querySelector("[data-testid=stApp]");
  if (watcher || !app) return;
  let was = app.getAttribute(STATE);
  watcher = new MutationObserver(() => {
    const now = app.getAttribute(STATE);
    if (now === "CONNECTED" && was !== now) ask();
    was = now;
  });
  watcher.observe(app, { attributeFilter: [STATE] });
}
