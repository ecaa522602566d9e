import { forwardLog, type RunServiceOptions, runService } from '@sluice/service';
import { type Env, settings } from './settings.ts';
import { wire } from './wiring.ts';

/** Runs as the process that this file was started as; tests also run it among others in one. */
export const service: RunServiceOptions<Env> = {
  name: 'data-service',
  settings,
  wire,
  forwardLog,
};

if (import.meta.main) {
  await runService(service);
}
