import { runService } from '@sluice/service';
import { settings } from './settings.ts';
import { wire } from './wiring.ts';

await runService({ name: 'sluice-gateway', settings, wire });
