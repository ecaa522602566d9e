/** Where our description is not the published one, on purpose: `operationId part.path: what`, and why. */
export const differences: readonly (readonly [where: RegExp, why: string])[] = [
  [
    / body\b.*(usage_limits|rate_limits)(\[\])?\.(credit_limit|type|unit|value): is required$/,
    'A limit that says neither how much nor of what is none.',
  ],
  [
    /^getLogsExports\w* answer\.(data\[\]\.)?requested_data\[\]: may be "call"$/,
    'What of an export is a call of a tool or an agent: those are ours.',
  ],
  [
    /^getLogsExports\w* answer\.(data\[\]\.)?requested_data\[\]: may be "cost_known"$/,
    'A cost that nobody knows is told as 0 there, and must be told from none.',
  ],
  [
    /^getLogsLogId answer\.(request\.(headers|body)|response\.(headers|body)|finalUntransformedRequest|originalResponse|transformedRequest): is not known$/,
    'Only what is kept can be shown: headers and bodies are not.',
  ],
  [
    /^putIntegrationsSlugModels body\.models\[\]\.pricing_config\.pay_as_you_go\b.*: is required$/,
    'A price that is not there would be stored, and would cost nothing.',
  ],
  [
    /^postLogs body(\[\])?\.request\.method: does not take "any text"$/,
    'It is a method of HTTP, in any case; what is none was always refused.',
  ],
  [
    /^updateOrganisationDefaults body\.(in|out)put_guardrails\[\]\.(id|slug): is required$/,
    'Of one that is sent back as it is shown; one may be named by text.',
  ],
  [/^postAdminWorkspaces body\.name: is required$/, 'The slug is made of it.'],
  [
    /^postAdminWorkspaces(WorkspaceIdUsers)? body\.users\[\]\.id: is required$/,
    'Else it names nobody.',
  ],
  [
    /^postVirtualKeys body\.(name|provider): is required$/,
    'The slug is made of the name, and without a provider there is nothing to call.',
  ],
  [
    /^getApiKeys(Id)? answer\.(data\[\]\.)?status: may be "suspended"$/,
    'A key can be stopped and started again here.',
  ],
  [
    /^getVirtualKeys(Slug)? answer(\.data\[\])?\.status: may be "expired"$/,
    'It is a provider under its older name, and the published providers expire.',
  ],
  [
    /(Integrations|Providers|VirtualKeys|AdminWorkspaces)\w* answer\b.*rate_limits\[\]\.unit: may be "rpw"$/,
    'A week can be set here as it can in policies, and what is set is shown.',
  ],
  [/RateLimitsPolicy body\.value: does not take number$/, 'Half a request is nothing to count.'],
  [/^createConfig body\.(name|config): is required$/, 'A config without either is none.'],
  [
    /^update(Config|PromptPartial) body\.status: does not take "any text"$/,
    'The states that it can be in are a closed list.',
  ],
  [
    / (query|body\.filters)\.(current_page|page_size): does not take number$/,
    'Half a page is nothing to ask for.',
  ],
  [
    /Guardrail body\.checks\[\]\.parameters\.(min|max)(Characters|Words|Sentences): does not take number$/,
    'Half a word is nothing to count.',
  ],
  [
    /^getAuditLogs query\.(resource_type|action): does not take "any text"$/,
    'What is none of them finds nothing: whoever asks for it is told those there are.',
  ],
  [
    /^getAuditLogs answer\.records\[\]\.method: may be "GET"$/,
    'A token that is refused is recorded, whatever it was sent for.',
  ],
  [
    /^getAnalytics\w+ answer\.(summary|data_points\[\]|data\[\])\.(avg\w*|p\d\d|rate|cache_speedup): may be number$/,
    'Averages, rates and percentiles are seldom whole.',
  ],
  [
    /^getAnalytics(GraphsCost answer\.(summary|data_points\[\])\.total|\w+ answer\.(data|data_points)\[\]\.(cost|cumulative_\w+)): may be number$/,
    'Most calls cost less than a cent.',
  ],
  [
    /^getGuardrail answer\.checks\[\]\.id: may be "any text"$/,
    'An answer tells what was stored; which checks there are is checked before.',
  ],
  [
    /^getPrompt(ByVersion)? answer\.tool_choice: may be string$/,
    'OpenAI’s clients send `auto`, `none` and `required` as text.',
  ],
  [
    /^getPromptPartial answer\.status: may be "archived"$/,
    'It can be, and the list of partials says so as published.',
  ],
  [
    /^getGuardrail answer\.actions\.on_(success|fail)\.feedback: may be null$/,
    'Feedback can be switched off, and then there is none to show.',
  ],
  [/^updatePrompt(Partial)?Default body\.version: does not take number$/, 'Versions are counted.'],
  [
    /^getModelPricing answer\.calculate\.(request|response)\.operands\[\]\.operands\[\]\.\w+: is not known$/,
    'A cost is a sum of products: operations hold operations once, no deeper.',
  ],
  [
    /^(post|put)LogsExports(ExportId)? body\.filters\.(page_size|current_page): does not take number$/,
    'Half a page is nothing to ask for.',
  ],
  [
    /^McpServers_(list|retrieve) answer(\.data\[\])?\.(mcp_integration_id|auth_type): may be null$/,
    'A server of several others has no integration of its own; rows of such are shown.',
  ],
];
