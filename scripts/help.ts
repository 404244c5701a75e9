/** `npm run help`: what this checkout can do. */
const commands: [string, string][] = [
  [
    'npm ci && npm run demo',
    'guided demo of a node and its agent on an embedded API server: under a minute, no root (-- --keep leaves it up; -- controllers, -- scheduler: the other two)',
  ],
  ['npm run demo:record', 'the recording of the demo that README shows: docs/demo.cast, docs/demo.svg'],
  ['npm cit', 'install, then unit, embedded and transcript tests: some two minutes on two cores, no root'],
  ['npm run check', 'types, lint, format, import direction, no I/O in the files that decide'],
  ['npm run build', 'dist/dkc.js: one executable file without node_modules'],
  ['npm run package', 'dist/packages: tarball, .deb and .rpm for amd64 and arm64 (docs/packages.md)'],
  ['npm run image', 'dist/image: container image for amd64 and arm64 as an OCI layout, without a daemon (docs/packages.md)'],
  ['npm run test:systemd', 'the node agent under a real systemd; needs root'],
  [
    'npm run test:kubelet',
    "our decoding and validation beside the kubelet's own, of six releases (1.20 is built from Debian's source, cached)",
  ],
  ['npm run test:real', 'a real kubelet, and a real API server with all that goes with it; needs root'],
  ['npm run test:endurance', 'many seeds, random rollouts, a day in fake time, hand-overs of a lease: some minutes'],
  ['npm run bench', 'the figures of docs/benchmarks.md'],
  ['npm run mutants', 'planted faults, one by one, and whether a unit test notices: half an hour or more (-- --help)'],
  ['npm run gates', 'what the table of feature gates would have to say to agree with the kubelets in DKC_REAL_KUBERNETES'],
  ['npm run messages', 'every help text and message of dkc on one page, for somebody who reads only those'],
  ['npm run format', 'format the code with prettier'],
  ['npx node cli/main.ts --help', 'dkc from the source'],
];
const width = Math.max(...commands.map(([command]) => command.length));
for (const [command, what] of commands) console.log(`  ${command.padEnd(width)}  ${what}`);
