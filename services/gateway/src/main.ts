import { forwardLog, runService } from '@sluice/service';
import { lowerHelperThreads } from './lower-helper-threads.ts';
import { settings } from './settings.ts';
import { wire } from './wiring.ts';

lowerHelperThreads();
await runService({ name: 'sluice-gateway', settings, wire, forwardLog });
