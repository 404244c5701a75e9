/** A stream that brings nothing for so long, in ms, is stale: the server sends something every 10 s. */
const STALE_MS = 25_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/**
 * Follows the event stream, and connects again when it ends or brings nothing.
 * @param on - `message` with each picture or change; `state` with live, connecting or stale
 */
export function follow(url, on) {
  let source;
  let failures = 0;
  let watchdog;
  let everLive = false;
  const alive = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(again, STALE_MS);
  };
  const connect = () => {
    source = new EventSource(url);
    alive();
    const take = ({ data }) => {
      alive();
      failures = 0;
      everLive = true;
      on.message(JSON.parse(data));
      on.state('live');
    };
    source.addEventListener('picture', take);
    source.addEventListener('changes', take);
    source.addEventListener('beat', alive);
    source.addEventListener('error', again);
  };
  const again = () => {
    source.close();
    clearTimeout(watchdog);
    on.state(everLive ? 'stale' : 'connecting');
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++) * (0.75 + Math.random() / 2);
    setTimeout(connect, wait);
  };
  connect();
}
