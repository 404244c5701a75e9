import { DEFAULT_SCHEDULER_NAME, defaultProfile, type ProfileConfig } from '../../../../scheduler/config/config.ts';

/**
 * What a scheduler is asked for that was told nothing. It is the product's own, since it decides nothing: the oracle and whoever is compared with it get it
 * from outside, and expected values of other tests notice when it changes.
 */
export const plainProfile: ProfileConfig = { schedulerName: DEFAULT_SCHEDULER_NAME, ...defaultProfile };
