import { createHash, randomBytes } from 'node:crypto';

/** What a call of the container runtime interface gets and gives. Field names are those of its protocol file. */
export type Message = Record<string, unknown>;
export type Calls = Record<string, (request: Message) => Message>;

type Labels = Record<string, string>;
type Spec = { metadata: Message; labels: Labels; annotations: Labels };
type Sandbox = Spec & { id: string; state: string; created_at: string; runtime_handler: string; ip: string; namespaces: unknown };
type Image = { id: string; repo_tags: string[]; size: string };
type Ran = { state: string; created_at: string; started_at: string; finished_at: string; exit_code: number; reason: string };
type Used = { image: { image: string }; image_ref: string; image_id: string; mounts: unknown; log_path: string };
type Container = Spec & Ran & Used & { id: string; pod_sandbox_id: string };

/** The runtime has no such call: the caller sees gRPC's UNIMPLEMENTED. */
export class NotImplemented extends Error {
  override name = 'NotImplemented';
}

/** A thing that a call names is not there: the caller sees gRPC's NOT_FOUND. */
export class NotFound extends Error {
  override name = 'NotFound';
}

/** Versions of the container runtime interface: of a kubelet 1.20, and from 1.26 on. */
export type RuntimeApi = 'v1alpha2' | 'v1';

export interface FakeOptions {
  api: RuntimeApi;
  /** Which cgroup driver the runtime says it uses; `none`: it does not implement the call, as older runtimes. Only v1. @default CGROUPFS */
  driver?: 'SYSTEMD' | 'CGROUPFS' | 'none';
  /** It answers that it is not ready, or that its network is not. */
  notReady?: readonly ('RuntimeReady' | 'NetworkReady')[];
}

const nanoseconds = (): string => `${Date.now()}000000`;
const newId = (): string => randomBytes(32).toString('hex');
const pick = <T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> =>
  Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;

function named<T>(things: Map<string, T>, id: unknown): T {
  const thing = things.get(String(id));
  if (!thing) throw new NotFound(`there is no ${String(id)}`);
  return thing;
}

/** Whether a list call wants `thing`: an empty or absent part of its filter admits all. */
function wanted(filter: unknown, thing: { id: string; pod_sandbox_id?: string; state?: string; labels: Labels }): boolean {
  const f = (filter ?? {}) as { id?: string; pod_sandbox_id?: string; state?: { state: string } | null; label_selector?: Labels };
  return (
    (!f.id || f.id === thing.id) &&
    (!f.pod_sandbox_id || f.pod_sandbox_id === thing.pod_sandbox_id) &&
    (!f.state || f.state.state === thing.state) &&
    Object.entries(f.label_selector ?? {}).every(([key, value]) => thing.labels[key] === value)
  );
}

/**
 * The calls of a runtime that runs nothing: pods and containers are entries in maps, started ones run until they are stopped (an init
 * container too, so a pod with one never gets further), every image can be pulled, every command in a container succeeds.
 * Exec, Attach and PortForward are left out: they need streams.
 */
export function fakeCalls({ api, driver = 'CGROUPFS', notReady = [] }: FakeOptions): { runtime: Calls; images: Calls } {
  const sandboxes = new Map<string, Sandbox>();
  const containers = new Map<string, Container>();
  const images = new Map<string, Image>();
  let addresses = 0;

  const stop = (container: Container): void => {
    if (container.state === 'CONTAINER_EXITED') return;
    Object.assign(container, { state: 'CONTAINER_EXITED', finished_at: nanoseconds(), exit_code: 0, reason: 'Completed' });
  };
  const isRunning = ({ state }: Container): boolean => state === 'CONTAINER_RUNNING';
  const inside = (sandbox: unknown): Container[] => [...containers.values()].filter((c) => c.pod_sandbox_id === sandbox);
  const imageRef = (name: string): string => `sha256:${createHash('sha256').update(name).digest('hex')}`;
  const imageName = (request: Message): string => String((request['image'] as Message | null)?.['image']);
  const findImage = (name: string): Image | null => images.get(name) ?? [...images.values()].find((i) => i.id === name) ?? null;
  const none = { value: '0' };
  const usage = (): Message => ({ timestamp: nanoseconds(), fs_id: { mountpoint: '/' }, used_bytes: none, inodes_used: none });
  const load = (): Message => ({
    cpu: { timestamp: nanoseconds(), usage_core_nano_seconds: none },
    memory: { timestamp: nanoseconds(), working_set_bytes: none },
  });
  const stats = (c: Container): Message => ({
    attributes: pick(c, 'id', 'metadata', 'labels', 'annotations'),
    ...load(),
    writable_layer: usage(),
  });

  const handlers: Message = {
    runtime_handlers: [{ name: '', features: { recursive_read_only_mounts: true, user_namespaces: true } }],
    features: { supplemental_groups_policy: true },
  };
  const newer: Calls = {
    RuntimeConfig() {
      if (driver === 'none') throw new NotImplemented('RuntimeConfig');
      return { linux: { cgroup_driver: driver } };
    },
    UpdatePodSandboxResources: () => ({}),
    PodSandboxStats: ({ pod_sandbox_id }) => ({ stats: podStats(named(sandboxes, pod_sandbox_id)) }),
    ListPodSandboxStats({ filter }) {
      const ready = [...sandboxes.values()].filter((s) => s.state === 'SANDBOX_READY' && wanted(filter, s));
      return { stats: ready.map(podStats) };
    },
    ListMetricDescriptors: () => ({ descriptors: [] }),
    ListPodSandboxMetrics: () => ({ pod_metrics: [] }),
  };
  const podStats = (sandbox: Sandbox): Message => ({
    attributes: pick(sandbox, 'id', 'metadata', 'labels', 'annotations'),
    linux: {
      ...load(),
      process: { timestamp: nanoseconds(), process_count: { value: '1' } },
      containers: inside(sandbox.id).filter(isRunning).map(stats), // prettier-ignore
    },
  });

  const runtime: Calls = {
    Version: () => ({ version: '0.1.0', runtime_name: 'fake', runtime_version: '2.0.0', runtime_api_version: api }),
    Status: () => {
      const conditions = (['RuntimeReady', 'NetworkReady'] as const).map((type) => ({ type, status: !notReady.includes(type) }));
      return { status: { conditions }, ...(api === 'v1' ? handlers : {}) };
    },
    UpdateRuntimeConfig: () => ({}),

    RunPodSandbox({ config, runtime_handler }) {
      const spec = config as Spec & { linux: { security_context: { namespace_options: unknown } | null } | null };
      const id = newId();
      const next = addresses++;
      sandboxes.set(id, {
        ...pick(spec, 'metadata', 'labels', 'annotations'),
        id,
        state: 'SANDBOX_READY',
        created_at: nanoseconds(),
        runtime_handler: String(runtime_handler),
        ip: `10.88.${(next >> 8) & 255}.${next & 255}`,
        namespaces: { options: spec.linux?.security_context?.namespace_options ?? {} },
      });
      return { pod_sandbox_id: id };
    },
    StopPodSandbox({ pod_sandbox_id }) {
      for (const container of inside(pod_sandbox_id)) stop(container);
      const sandbox = sandboxes.get(String(pod_sandbox_id));
      if (sandbox) sandbox.state = 'SANDBOX_NOTREADY';
      return {};
    },
    RemovePodSandbox({ pod_sandbox_id }) {
      for (const container of inside(pod_sandbox_id)) containers.delete(container.id);
      sandboxes.delete(String(pod_sandbox_id));
      return {};
    },
    PodSandboxStatus({ pod_sandbox_id }) {
      const { ip, namespaces, ...sandbox } = named(sandboxes, pod_sandbox_id);
      return { status: { ...sandbox, network: { ip }, linux: { namespaces } } };
    },
    ListPodSandbox: ({ filter }) => ({ items: [...sandboxes.values()].filter((s) => wanted(filter, s)) }),

    CreateContainer({ pod_sandbox_id, config }) {
      const sandbox = named(sandboxes, pod_sandbox_id);
      const id = newId();
      const name = imageName(config as Message); // the kubelet gives the reference it got from PullImage
      const image = findImage(name);
      if (!image) throw new NotFound(`there is no image ${name}`);
      containers.set(id, {
        ...pick(config as Container, 'metadata', 'labels', 'annotations', 'mounts', 'log_path'),
        id,
        pod_sandbox_id: sandbox.id,
        image: { image: image.repo_tags[0] ?? name },
        image_ref: image.id,
        image_id: image.id,
        state: 'CONTAINER_CREATED',
        created_at: nanoseconds(),
        started_at: '0',
        finished_at: '0',
        exit_code: 0,
        reason: '',
      });
      return { container_id: id };
    },
    StartContainer({ container_id }) {
      Object.assign(named(containers, container_id), { state: 'CONTAINER_RUNNING', started_at: nanoseconds() });
      return {};
    },
    StopContainer({ container_id }) {
      const container = containers.get(String(container_id));
      if (container) stop(container);
      return {};
    },
    RemoveContainer({ container_id }) {
      containers.delete(String(container_id));
      return {};
    },
    ListContainers: ({ filter }) => ({ containers: [...containers.values()].filter((c) => wanted(filter, c)) }),
    ContainerStatus: ({ container_id }) => ({ status: named(containers, container_id) }),
    UpdateContainerResources: ({ container_id }) => (named(containers, container_id), {}),
    ReopenContainerLog: ({ container_id }) => (named(containers, container_id), {}),
    ExecSync: ({ container_id }) => (named(containers, container_id), { stdout: '', stderr: '', exit_code: 0 }),
    ContainerStats: ({ container_id }) => ({ stats: stats(named(containers, container_id)) }),
    ListContainerStats({ filter }) {
      const running = [...containers.values()].filter((c) => isRunning(c) && wanted(filter, c));
      return { stats: running.map(stats) };
    },
  };

  const imageService: Calls = {
    ListImages({ filter }) {
      const name = filter ? imageName(filter as Message) : '';
      return { images: [...images.values()].filter((i) => !name || i === findImage(name)) };
    },
    ImageStatus: (request) => ({ image: findImage(imageName(request)) }),
    PullImage(request) {
      const name = imageName(request);
      const found = findImage(name) ?? { id: imageRef(name), repo_tags: [name], size: '1000' };
      images.set(name, found);
      return { image_ref: found.id };
    },
    RemoveImage(request) {
      const found = findImage(imageName(request));
      for (const [name, i] of images) if (i === found) images.delete(name);
      return {};
    },
    ImageFsInfo: () => ({ image_filesystems: [usage()], ...(api === 'v1' ? { container_filesystems: [usage()] } : {}) }),
  };

  return { runtime: api === 'v1' ? { ...runtime, ...newer } : runtime, images: imageService };
}
