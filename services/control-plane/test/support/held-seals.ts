/** A sealed part, as the ledger of the tests has it. */
export const heldSeal = {
  sequence: 1n,
  kind: 'part',
  day: '2026-03-10',
  workspaceId: 'ws-1',
  recordsDay: '2026-03-10',
  records: 2n,
  inputTokens: 20n,
  outputTokens: 10n,
  costNanoUsd: 90_000_000n,
  adjustments: 1n,
  adjustedNanoUsd: -10_000_000n,
  hash: 'c'.repeat(64),
};

/** What verifying the first organisation comes to. */
export const heldVerdict = {
  entries: 2n,
  sealedTo: '2026-03-10',
  headSequence: 2n,
  headHash: heldSeal.hash,
  keptFrom: '2026-02-01',
  faults: [
    {
      reason: 'altered',
      day: '2026-03-10',
      workspaceId: 'ws-1',
      table: 'usage_records',
      recordsDay: '2026-03-10',
      hour: 7,
      recordId: '0199c3a0-1234-7abc-8def-0123456789ab',
    },
    { reason: 'seal-missing', day: '2026-03-10', sequence: 3n },
  ],
  late: [{ workspaceId: 'ws-1', recordsDay: '2026-03-09', records: 1n }],
};
