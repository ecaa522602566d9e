import { forwardLog, runService } from '@sluice/service';
import { settings } from './settings.ts';
import { wire } from './wiring.ts';

await runService({ name: 'sluice-control-plane', settings, wire, forwardLog });
