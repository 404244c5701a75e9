import { mkdirSync, renameSync, writeFileSync } from 'node:fs';

/** How a scenario steers an agent: the same scenarios run with the stand-in and with the real one. */
export interface AgentUnderTest {
  /** Brings up what the agent talks to. Before dkc-agent.service is started. */
  prepare(): Promise<void>;
  /** Asks for this kubelet configuration; resolves once it is asked for, not once it is effective. */
  assign(config: string): Promise<void>;
}

const WANTED = '/srv/api/wanted.yaml';

const standIn: AgentUnderTest = {
  async prepare() {
    mkdirSync('/srv/api', { recursive: true });
  },
  async assign(config) {
    writeFileSync('/srv/new', config);
    renameSync('/srv/new', WANTED);
  },
};

export type AgentName = 'stand-in' | 'bundle';

export function agentUnderTest(name: AgentName): AgentUnderTest {
  if (name === 'stand-in') return standIn;
  throw new Error('The bundle is not driven yet');
}
