/** Pages whose blocks no test runs, and why; all others run each of theirs, or say why not below. */
export const pagesNotRun: Readonly<Record<string, string>> = {
  'docs/adding-a-check.md': 'changes the sources',
  'docs/adding-a-provider.md': 'changes the sources',
  'docs/adding-an-operation.md': 'changes the sources',
  'docs/benchmarks.md': 'measures for minutes',
  'docs/deploy/README.md': 'needs a cluster',
  'docs/deploy/airgap.md': 'needs a machine without a way out; `npm run airgap` does it',
  'docs/deploy/backup.md': 'needs the stores of an operator; `npm run backup:rehearse` does it',
  'docs/deploy/compose.md': 'needs an engine of containers; `npm run compose` does it',
  'docs/deploy/images.md': 'makes images; `npm run images` does it',
  'docs/deploy/openshift.md': 'needs a cluster',
  'docs/deploy/systemd.md': 'needs systemd; `npm run systemd` does it',
  'docs/two-teams.md': 'services/gateway/test/keys-and-limits.test.ts runs it, twice',
};

/** Blocks that no test runs, by page and first line, and why. */
export const blocksNotRun: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'npm start        # everything on this machine: the gateway is on http://127.0.0.1:8787':
      'starts what the blocks below ask',
    "import OpenAI from 'openai';": 'needs a package; vendors’ clients have tests of their own',
    'curl http://127.0.0.1:8787/v1/chat/completions \\': 'needs a key of OpenAI',
  },
  'docs/admin-api.md': {
    'npm run audit:verify          # all organisations, whether `npm start` runs or not':
      'a command with a test of its own',
  },
  'docs/agents.md': {
    'curl -X POST $SLUICE/v1/agent-integrations -H "x-service-api-key: $ADMIN_KEY" -H \'content-type: application/json\' \\':
      'needs an agent',
  },
  'docs/batches.md': {
    'for n in 1 2 3; do': 'waits for a batch; its own tests send the same',
  },
  'docs/caching.md': {
    'EMBEDDINGS_URL=https://api.openai.com/v1 EMBEDDINGS_API_KEY=$KEY EMBEDDINGS_MODEL=text-embedding-3-small EMBEDDINGS_DIMENSIONS=1536 npm run cache:measure':
      'needs a key of OpenAI',
  },
  'docs/deploy/rotation.md': {
    'kubectl -n ai patch secret sluice-keys --patch "{\\"stringData\\":{\\"MASTER_KEY_ALSO\\":\\"$(openssl rand -hex 32)\\"}}"':
      'needs a cluster',
  },
  'docs/opentelemetry.md': {
    'OTEL_EXPORTER_OTLP_ENDPOINT=https://sluice.example/v1/otel': 'settings of another program',
  },
  'docs/prices.md': {
    'npm run prices -- diff --from new-prices                  # beside what is in force':
      'needs price files of an operator; the command has tests of its own',
  },
  'docs/realtime.md': {
    "import { WebSocket } from 'ws';": 'needs a package, and a key of the vendor',
  },
  'docs/security.md': {
    'npm run abuse          # all of it, some fifteen minutes; a part runs with npm test':
      'takes fifteen minutes',
  },
  'docs/tool-execution.md': {
    'curl http://127.0.0.1:8787/v1/responses -H \'content-type: application/json\' -H "x-service-api-key: $KEY" \\':
      'needs the demo servers of `npm start`',
  },
};
