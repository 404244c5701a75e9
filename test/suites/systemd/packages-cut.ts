import type { PackageKind } from './inside/packages.ts';

/** Where a package manager is killed, and what is done about it then. */
export interface Cut {
  during: 'install' | 'upgrade' | 'remove';
  /** When a file appears whose name begins like this, in /usr/lib/dkc. */
  file?: string;
  /** In place of a call of a program that has these words. */
  call?: string;
  /** The same once more, the older version, or purge. */
  afterwards: 'again' | 'back' | 'purge';
}

/** While files are unpacked; between two files; between two steps of the scripts, which all kinds share. */
export const cuts: Readonly<Record<PackageKind, readonly Cut[]>> = {
  deb: [
    { during: 'install', file: 'node.dpkg-new', afterwards: 'again' },
    { during: 'upgrade', file: 'node.dpkg-new', afterwards: 'back' },
    { during: 'remove', call: 'systemctl try-restart', afterwards: 'again' },
  ],
  rpm: [{ during: 'upgrade', file: 'node;', afterwards: 'back' }],
  tar: [
    { during: 'install', file: 'node.dkc-new', afterwards: 'purge' },
    { during: 'upgrade', call: 'mv -fT /usr/lib/dkc/kubelet-sync.dkc-new', afterwards: 'back' },
    { during: 'remove', call: 'rm -f /usr/lib/dkc/dkc.js', afterwards: 'again' },
  ],
};
