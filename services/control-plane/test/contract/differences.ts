/** Where our description is not the published one, on purpose: `operationId part.path: what`, and why. */
export const differences: readonly (readonly [where: RegExp, why: string])[] = [
  [
    / body\b.*(usage_limits|rate_limits)(\[\])?\.(credit_limit|type|unit|value): is required$/,
    'A limit that says neither how much nor of what is none.',
  ],
  [
    /^putIntegrationsSlugModels body\.models\[\]\.pricing_config\.pay_as_you_go\b.*: is required$/,
    'A price that is not there would be stored, and would cost nothing.',
  ],
  [/^postAdminWorkspaces body\.name: is required$/, 'The slug is made of it.'],
  [/^postAdminWorkspaces body\.users\[\]\.id: is required$/, 'Else it names nobody.'],
  [/^createConfig body\.(name|config): is required$/, 'A config without either is none.'],
  [
    /^updateConfig body\.status: does not take "any text"$/,
    'The states that a config can be in are a closed list.',
  ],
  [
    /^getAdminWorkspacesWorkspaceIdUsers query\.(current_page|page_size): does not take number$/,
    'Half a page is nothing to ask for.',
  ],
  [
    /^getModelPricing answer\.calculate\.(request|response)\.operands\[\]: may be anything$/,
    'An operation may hold operations, as deep as it likes.',
  ],
];
