import { ActionError } from '../../base/errors.ts';
import { FreshFile } from '../../base/changing-files.ts';
import { isLoopback, parseBindAddress, type BindAddress } from '../../kube/serving/serve.ts';
import { usageOf } from '../process/settings.ts';
import { pageAssets } from './page-assets.ts';
import type { PageOptions } from '../../controllers/page/page.ts';
import type { Args } from '../args/args.ts';
import type { Context, Flag } from '../command.ts';

/** Of the fleet page, which the rollout controller serves. */
export const pageFlags: readonly Flag[] = [
  {
    name: 'page-bind-address',
    type: 'string',
    value: 'HOST:PORT',
    default: '127.0.0.1:10463',
    text: 'address of the fleet page, served with the rollout controller; port 0 = any free port, empty = off',
  },
  {
    name: 'page-token-file',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'file with the token that readers of the page must give; required unless the address is loopback',
    defaultText: 'no token',
  },
];

export interface PageSettings {
  at: BindAddress;
  tokenFile: string | undefined;
}

/** @returns undefined: no page @throws {UsageError} naming the flag and what it must be */
export function pageSettings(command: string, args: Args): PageSettings | undefined {
  const usage = usageOf(command);
  const at = addressOf(args.text('page-bind-address') ?? '', usage);
  if (at === undefined) return undefined;
  const file = args.text('page-token-file') ?? '';
  if (file === '' && !isLoopback(at.host))
    throw usage('page-bind-address', 'needs --page-token-file unless it is loopback: the page shows names and errors of all nodes');
  return { at, tokenFile: file === '' ? undefined : file };
}

/** What the page needs of this process. A token file that changes counts at once. @throws {ActionError} when the token cannot be read */
export async function pageOptions({ path }: Pick<Context, 'path'>, { at, tokenFile }: PageSettings): Promise<Omit<PageOptions, 'serves'>> {
  const assets = pageAssets();
  if (tokenFile === undefined) return { at, assets };
  const file = new FreshFile(path(tokenFile), 'token file');
  const token = async (): Promise<string> => (await file.text()).trim();
  await token();
  return { at, assets, token };
}

function addressOf(text: string, usage: ReturnType<typeof usageOf>): BindAddress | undefined {
  try {
    return parseBindAddress(text, '--page-bind-address');
  } catch (error) {
    if (error instanceof ActionError) throw usage('page-bind-address', 'must be HOST:PORT, such as 127.0.0.1:0, or empty to switch it off');
    throw error;
  }
}
