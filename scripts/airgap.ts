/**
 * `npm run airgap`: a whole installation at work for ten minutes in a network
 * without a way out, with every connect and every datagram of every process
 * written down by the kernel's own tracing (strace). Ends with 1 when anything
 * but this machine was meant, or any name was asked for; and when the recorder,
 * shown the same work without AIRGAP, sees nothing. As root on Linux.
 */
import { parseArgs } from 'node:util';
import { recordWork } from './airgap/record-work.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' } } });

const control = await recordWork({ isOn: false, seconds: 5 });
const sawNames = control.outside.some(({ port }) => port === 53);
process.stdout.write(
  `without AIRGAP  work ${control.passed ? 'done' : 'FAILED'}, ${control.calls} calls, ${control.outside.length} destinations elsewhere: ${list(control.outside)}\n`,
);
const gapped = await recordWork({ isOn: true, seconds: Number(values.seconds) });
process.stdout.write(
  `with AIRGAP     work ${gapped.passed ? 'done' : 'FAILED'}, ${gapped.calls} calls, ${gapped.outside.length} destinations elsewhere: ${list(gapped.outside)}\n`,
);
const isProved = sawNames && gapped.passed && gapped.calls > 0 && gapped.outside.length === 0;
process.stdout.write(isProved ? 'ok\n' : 'FAILED\n');
process.exitCode = isProved ? 0 : 1;

function list(destinations: readonly { address: string; port: number; count: number }[]): string {
  return destinations.length === 0
    ? 'none'
    : destinations
        .map(({ address, port, count }) => `${address} port ${port} (${count})`)
        .join(', ');
}
