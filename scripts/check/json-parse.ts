import type { SourceFile } from './source-files.ts';

/**
 * `JSON.parse` blocks the process for as long as it takes, and what others send
 * can make that seconds: outside bytes are read with `@sluice/json`, which
 * counts them first. These files parse what we wrote ourselves, or what was
 * counted before; with `parseText` where others gave names of members.
 */
const allowed: Readonly<Record<string, string>> = {
  'packages/json/src/read-json.ts': 'counts before it parses',
  'packages/json/src/parse-text.ts': 'for whoever has counted',
  'packages/json/src/spellings-of.ts': 'one name of a few bytes',
  'packages/json/src/passing-texts.ts': 'one text of a bounded length',
  'packages/contracts/src/admin/ledger/analytics.ts': 'a query parameter of 8 kB',
  'services/control-plane/src/ledger/logs/present-request.ts':
    'a decision that a gateway described: 4 kB and 50 verdicts',
  'packages/contracts/src/admin/documents/configs.ts': 'a query parameter of 8 kB',
  'packages/contracts/src/admin/kernel/paging.ts': 'a query parameter',
  'packages/contracts/src/admin/ledger/feedback.ts': 'a text within a body that was counted',
  'packages/contracts/src/forwarded-caller.ts': 'a header that the gateway signed',
  'packages/contracts/src/job-token.ts':
    'a header that the control plane signed, or the data service wrote',
  'packages/rpc/src/told-error.ts': 'our own metadata',
  'services/control-plane/src/batches/batch-service.ts': 'what a gateway wrote',
  'services/control-plane/src/batches/job-service.ts': 'what a data service wrote',
  'services/control-plane/src/batches/sealed-job.ts': 'our own sealed text',
  'services/data-service/src/batches/run-batch.ts': 'from the control plane',
  'services/data-service/src/batches/run-response.ts': 'from the control plane',
  'packages/data-dir/src/lock-data-dir.ts': 'our own file',
  'packages/price-files/src/read-price-files.ts': 'a file of the operator, of 8 MiB at most',
  'packages/object-store/src/log-store-settings.ts': 'a setting of the operator, of 1 MiB at most',
  'packages/engine/src/prompts/prompt-template.ts': 'a saved template',
  'services/gateway/src/stored/present.ts': 'from the control plane',
  'services/gateway/src/stored/current-response.ts': 'from the control plane',
  'services/gateway/src/compiled/compile-prices.ts': 'from the control plane',
  'services/gateway/src/compiled/compiled-bundle.ts': 'from the control plane',
  'services/gateway/src/held/held-organisation.ts': 'from the control plane',
  'services/gateway/src/compiled/prompt-compiler.ts': 'from the control plane',
  'services/gateway/src/compiled/read-object.ts': 'from the control plane',
  'packages/json/src/spans.ts': 'one name in a document that was parsed',
  'services/gateway/src/http/edit-json.ts': 'one name in a body that was counted',
  'services/gateway/src/limits/limit-marks.ts': 'our own file',
  'services/gateway/src/limits/memory-counts.ts': 'our own file',
  'services/gateway/src/limits/settling-notes.ts': 'our own file',
  'services/gateway/src/usage/outbox.ts': 'our own file',
  'services/gateway/src/content/segment.ts': 'our own file',
  'services/control-plane/src/config-sync/change-feed.ts': 'our own notices',
  'services/data-service/src/seals/verify-organisation.ts': 'our own sealed text',
  'services/control-plane/src/tools/registry/configurations.ts': 'our own sealed text',
  'services/control-plane/src/tools/mcp-integrations/offer-of.ts':
    'what was written the line before',
  'services/control-plane/src/documents/guardrails/store.ts': 'our own sealed text',
  'services/control-plane/src/models/secret-references/auth-config.ts': 'our own sealed text',
  'services/control-plane/src/models/integrations/credentials.ts': 'our own sealed text',
  'services/control-plane/src/models/integrations/model-settings.ts': 'our own sealed text',
  'services/control-plane/src/simulation/past-request-of.ts':
    'a decision that a gateway described: 4 kB and 50 verdicts',
  'services/control-plane/src/simulation/routes.ts': 'a stored config',
  'services/control-plane/src/documents/configs/operations.ts': 'a stored config',
  'services/control-plane/src/documents/configs/present.ts': 'a stored config',
  'services/control-plane/src/documents/configs/check-document.ts': 'a stored config',
  'services/control-plane/src/documents/configs/named-by.ts': 'a stored config',
  'services/control-plane/src/kernel/http/json-body.ts': 'a body that was counted',
  'services/control-plane/src/kernel/http/idempotency.ts': 'our own sealed text',
  'services/control-plane/src/documents/configs/stored-document.ts': 'a stored config',
  'services/control-plane/src/oauth/openid-logins.ts': 'our own sealed text',
  'services/control-plane/src/oauth/record-adapter.ts': 'our own sealed text',
  'services/control-plane/src/tools/upstream-oauth/sign-ins.ts': 'our own sealed text',
  'services/control-plane/src/tools/upstream-oauth/upstream-client.ts': 'our own sealed text',
  'services/control-plane/src/tools/upstream-oauth/user-connections.ts': 'our own sealed text',
  'services/gateway/src/mcp/sign-in-needed.ts': 'our own sealed text',
  'services/control-plane/src/people/auth-settings/oidc-settings.ts': 'our own sealed text',
  'services/control-plane/src/people/auth-settings/settings.ts': 'our own sealed text',
  'services/control-plane/src/kernel/openapi/examples.ts': 'our own files',
};

/** Parts that meet nobody from outside. */
const ownParts =
  /^(?:scripts|packages\/(?:demo-upstream|stack|testkit))\/|\.test\.ts$|\/test\/|\/prisma\//;

/** Raw parsing where it is not allowed, and entries of the list that nothing needs. */
export function findRawParsing(files: readonly SourceFile[]): string[] {
  const parsing = new Set(
    files
      .filter(
        ({ path, text }) =>
          !ownParts.test(path) && /^(?!\s*(?:\*|\/\/)).*\b(?:JSON\.parse|parseText)\(/m.test(text),
      )
      .map(({ path }) => path),
  );
  return [
    ...[...parsing]
      .filter((path) => allowed[path] === undefined)
      .map(
        (path) =>
          `${path} parses without counting: use readJson of @sluice/json, or say why in scripts/check/json-parse.ts`,
      ),
    ...Object.keys(allowed)
      .filter((path) => !parsing.has(path))
      .map((path) => `scripts/check/json-parse.ts lists ${path}, which does not parse`),
  ];
}
