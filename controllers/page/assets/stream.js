/** A stream without events for this long, in ms, is stale: the server sends one every 10 s. */
const STALE_MS = 25_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/**
 * Follows the event stream, and reconnects when it ends or is stale.
 * @param on - `message` is called with each picture or change; `state` with live, connecting or stale, and with the server's reason if there is one
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
    void whyNot(url).then(
      (why) => why !== '' && source.readyState === EventSource.CLOSED && on.state(everLive ? 'stale' : 'connecting', why),
    );
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++) * (0.75 + Math.random() / 2);
    setTimeout(connect, wait);
  };
  connect();
}

const reasons = {
  401: 'the token is not accepted; reload the page',
  403: 'the server does not accept this host name',
  503: 'the server has reached its maximum number of open pages',
};

/** Sends HEAD, because an EventSource does not tell why it failed. */
async function whyNot(url) {
  return fetch(url, { method: 'HEAD', cache: 'no-store' }).then(
    ({ status }) => reasons[status] ?? '',
    () => 'the server does not answer',
  );
}
