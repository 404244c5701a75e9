/** Every string that can appear as `error` (spec 7.2, design 4). Sanitised on purpose: details go to log and journal. */
export const statusErrors = {
  load: 'failed to load config, see Kubelet log for details',
  validate: 'failed to validate config, see Kubelet log for details',
  internal: 'internal failure, see Kubelet log for details',
  noSource: 'failed to sync: invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil',
  download: 'failed to sync: failed to download config, see Kubelet log for details',
  syncInternal: 'failed to sync: internal failure, see Kubelet log for details',
  failedTrial: 'failed trial, see dkc-agent log for details',
  rolledBack: 'rolled back by admin, see dkc-agent log for details',
} as const;
