/**
 * `npm run ledger:verify`: proves that no sealed record of the ledger was altered, removed
 * or added. One line for each organisation, one for each fault; exit code 1 when there is one.
 * Asks the data service that DATA_SERVICE_GRPC_URL names, or else that of `npm start`.
 */
import { parseArgs } from 'node:util';
import { analytics } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { dataService } from './start/data-service.ts';

const usage = `Usage: npm run ledger:verify -- [options]

  --organisation ID   this one only
  --since DAY         compare the records from this day on, e.g. 2026-12-01 (default: all)
  --data DIR          the installation of npm start (default .sluice), where DATA_SERVICE_GRPC_URL is not set
  --help              show this text
`;
/** All records of an organisation are read. */
const callMs = 3_600_000;
const { listSealedOrganisations, verifySeals } = analytics.LedgerService.method;

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      organisation: { type: 'string' },
      since: { type: 'string' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  const { since = '' } = values;
  if (since !== '' && !/^\d{4}-\d{2}-\d{2}$/.test(since))
    throw new Error(`${since} is no day, as 2026-12-01`);
  const client = createRpcClient(analytics.LedgerService, dataService(values.data));
  try {
    const { organisationIds } = await client.unary(
      listSealedOrganisations,
      {},
      { timeoutMs: 60_000 },
    );
    const asked = values.organisation;
    const ids =
      asked === undefined ? organisationIds : organisationIds.filter((id) => id === asked);
    if (asked !== undefined && ids.length === 0)
      throw new Error(`Nothing of an organisation ${asked} is sealed.`);
    if (ids.length === 0)
      process.stdout.write('Nothing is sealed so far: a day is, six hours after its end.\n');
    let isWhole = true;
    for (const organisationId of ids) {
      const request = { organisationId, since };
      const verdict = await client.unary(verifySeals, request, { timeoutMs: callMs });
      process.stdout.write(reportOf(organisationId, verdict));
      isWhole &&= verdict.faults.length === 0;
    }
    return isWhole ? 0 : 1;
  } finally {
    client.close();
  }
}

function reportOf(organisationId: string, verdict: analytics.VerifySealsResponse): string {
  const { faults, late, entries, sealedTo, headHash, keptFrom } = verdict;
  const came = late.reduce((sum, rows) => sum + rows.records + rows.adjustments, 0n);
  const waiting = came === 0n ? '' : `  ${came} came late and wait for the next seal`;
  const kept = keptFrom === '' ? '' : `  records are kept from ${keptFrom} on`;
  const head =
    faults.length === 0
      ? `valid  ${entries} entries to ${sealedTo}  head ${headHash}${kept}${waiting}`
      : `BROKEN  ${faults.length} faults${kept}${waiting}`;
  return [`${organisationId}  ${head}`, ...faults.map(lineOf), ''].join('\n');
}

function lineOf(fault: analytics.SealFault): string {
  const { reason, day, workspaceId, table, recordsDay, hour, rows, recordId } = fault;
  if (table === '') return `  ${reason}: entry ${fault.sequence} of the chain, sealed for ${day}`;
  const row = recordId === '' ? `${table}, ${rows} more` : `${table} ${recordId}`;
  return `  ${reason}: ${row}, workspace ${workspaceId}, ${recordsDay} ${hour}:00 UTC, sealed for ${day}`;
}
