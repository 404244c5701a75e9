/** By verb and resource, what a server may do wrong to a controller, with its probability. */
type Troubles = Readonly<Record<string, Readonly<Record<string, number>>>>;

const LATE_MS = { lag: 2_000, delay: 700 };

const ofAll = (sets: string): Troubles => ({
  'create pods': { 500: 0.3, half: 0.3, drop: 0.2, 429: 0.3 },
  'delete pods': { half: 0.3, 500: 0.3, 409: 0.3 },
  'patch pods': { half: 0.3, 409: 0.3 },
  'create controllerrevisions': { half: 0.4 },
  'delete controllerrevisions': { 503: 0.4 },
  [`update ${sets}/status`]: { 409: 0.3, half: 0.3, delay: 0.3 },
  [`get ${sets}`]: { 500: 0.4 },
  'watch pods': { lag: 0.3 },
  [`watch ${sets}`]: { lag: 0.3 },
  'watch controllerrevisions': { lag: 0.3 },
  'watch *': { duplicate: 0.2, 'early-gone': 0.05, half: 0.3, 503: 0.3 },
  'list *': { 500: 0.3 },
});

/** Each as the embedded server's faults are written. @param sets - the resource of the controller. @param more - that it alone can meet */
export function troublesOf(sets: string, more: Troubles): Record<string, unknown>[] {
  return Object.entries({ ...ofAll(sets), ...more }).flatMap(([call, kinds]) => {
    const [verb, resource] = call.split(' ');
    return Object.entries(kinds).map(([kind, probability]) => {
      const status = /^\d+$/.test(kind) ? Number(kind) : kind;
      const ms = kind === 'lag' || kind === 'delay' ? { ms: LATE_MS[kind] } : {};
      return { verb, resource, status, ...ms, probability };
    });
  });
}
