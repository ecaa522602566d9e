/** For tests: each partner, as an administrator sets it up, and texts that show what it does. */
export interface PartnerRow {
  readonly id: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly credentials: Readonly<Record<string, unknown>> | undefined;
  /** When it looks; default: before the request. */
  readonly after?: true;
  /** What it lets pass, and what it does not. */
  readonly clean?: string;
  readonly bad?: string;
  /** What it makes of a text with personal data, where it redacts. */
  readonly redacted?: string;
  /** Parameters that make it redact. */
  readonly redacting?: Readonly<Record<string, unknown>>;
}

export const personal = 'Write to ada@example.com.';

/** The key that the partners of the test gave out. */
const vendorKey = 'partner-key-7f3a9c';
const key = { apiKey: vendorKey };
const service = { ...key, baseURL: 'https://guardrails.service.test/' };
const azure = { ...key, resourceName: 'contoso' };
const entra = {
  resourceName: 'contoso',
  azureAuthMode: 'entra',
  tenantId: 'tenant-1',
  clientId: 'client-1',
  clientSecret: vendorKey,
};
const aws = {
  awsAccessKeyId: 'AKIDPARTNER',
  awsSecretAccessKey: vendorKey,
  awsRegion: 'eu-west-1',
};
const pangea = { ...key, domain: 'eu.pangea.test' };
const protect = { ...key, apiDomain: 'eu.prompt.security' };
/** A token whose claims say where it is for. */
const acuvityClaims = { opaque: { 'apex-url': 'https://eu.acuvity.test' } };
const acuvity = {
  apiKey: `e30.${Buffer.from(JSON.stringify(acuvityClaims)).toString('base64url')}.${vendorKey}`,
};
const bedrock = { guardrailId: 'gr1abc', guardrailVersion: '3' };

export const partnerRows: readonly PartnerRow[] = [
  { id: 'service.moderateContent', parameters: { categories: ['hate'] }, credentials: service },
  { id: 'service.language', parameters: { language: 'eng_Latn' }, credentials: service },
  { id: 'service.language', parameters: { language: ['eng_Latn'] }, credentials: service },
  { id: 'service.gibberish', credentials: service },
  {
    id: 'service.pii',
    parameters: { categories: ['EMAIL_ADDRESS'] },
    credentials: service,
    bad: personal,
    redacted: 'Write to {{EMAIL_ADDRESS_1}}.',
  },
  { id: 'azure.contentSafety', credentials: azure },
  { id: 'azure.contentSafety', credentials: { contentSafety: entra } },
  {
    id: 'azure.contentSafety',
    parameters: { blocklistNames: ['rivals'] },
    credentials: azure,
    bad: 'Tell me of the rival.',
  },
  { id: 'azure.shieldPrompt', credentials: azure },
  { id: 'azure.protectedMaterial', credentials: azure, after: true },
  {
    id: 'azure.pii',
    credentials: { pii: azure },
    bad: personal,
    redacted: 'Write to ***************.',
  },
  {
    id: 'bedrock.guard',
    parameters: bedrock,
    credentials: aws,
    clean: 'This is only seen.',
    redacted: 'Write to {EMAIL}.',
  },
  {
    id: 'bedrock.guard',
    parameters: bedrock,
    credentials: aws,
    bad: `${personal} It is blocked data.`,
  },
  { id: 'acuvity.scan', credentials: acuvity },
  { id: 'acuvity.scan', credentials: acuvity, bad: 'Das ist verboten.' },
  {
    id: 'acuvity.scan',
    parameters: { pii_categories: ['email_address'] },
    credentials: acuvity,
    bad: personal,
    redacting: { pii_redact: true },
    redacted: 'Write to ****.',
  },
  { id: 'aporia.validateProject', parameters: { projectID: 'project-1' }, credentials: key },
  {
    id: 'aporia.validateProject',
    parameters: { projectID: 'project-1' },
    credentials: key,
    after: true,
  },
  { id: 'cato.analyze', credentials: key, redacted: 'Write to [EMAIL_1].', redacting: {} },
  {
    id: 'crowdstrike-aidr.guardChatCompletions',
    credentials: { ...key, baseUrl: 'https://api.crowdstrike.test/aidr' },
    redacted: 'Write to ****.',
    redacting: {},
  },
  {
    id: 'f5-guardrails.scan',
    parameters: { projectId: 'project-1' },
    credentials: key,
    redacted: 'Write to ****.',
  },
  { id: 'javelin.guardrails', credentials: key },
  { id: 'lakera.guard', credentials: key, redacted: 'Write to [EMAIL].', redacting: {} },
  { id: 'lasso.classify', credentials: key, redacted: 'Write to <EMAIL>.' },
  { id: 'lasso.classify', credentials: key, after: true },
  {
    id: 'mistral.moderateContent',
    parameters: { categories: ['jailbreaking', 'pii'] },
    credentials: key,
  },
  { id: 'pangea.textGuard', credentials: pangea },
  {
    id: 'pangea.pii',
    credentials: pangea,
    bad: personal,
    redacted: 'Write to <EMAIL_ADDRESS>.',
  },
  {
    id: 'panw-prisma-airs.intercept',
    parameters: { profile_name: 'profile-1' },
    credentials: { AIRS_API_KEY: vendorKey },
  },
  ...['pii', 'phi'].map((check) => ({
    id: `patronus.${check}`,
    credentials: key,
    bad: personal,
    redacted: 'Write to ***************.',
  })),
  ...[
    'isConcise',
    'isHelpful',
    'isPolite',
    'noApologies',
    'noGenderBias',
    'noRacialBias',
    'retrievalAnswerRelevance',
    'toxicity',
  ].map((check) => ({ id: `patronus.${check}`, credentials: key, after: true as const })),
  {
    id: 'patronus.custom',
    parameters: { profile: 'my-criteria' },
    credentials: key,
    after: true,
  },
  {
    id: 'patronus.custom',
    parameters: { profile: 'glider:my:criteria' },
    credentials: key,
    after: true,
  },
  {
    id: 'pillar.scanPrompt',
    parameters: { scanners: ['pii', 'prompt_injection'] },
    credentials: key,
  },
  {
    id: 'pillar.scanResponse',
    parameters: { scanners: ['pii', 'prompt_injection'] },
    credentials: key,
    after: true,
  },
  { id: 'promptfoo.guard', credentials: undefined },
  { id: 'promptfoo.harm', credentials: undefined },
  { id: 'promptfoo.pii', credentials: undefined, bad: personal, redacted: 'Write to [EMAIL].' },
  { id: 'promptsecurity.protectPrompt', credentials: protect },
  { id: 'promptsecurity.protectResponse', credentials: protect, after: true },
  ...['contentModeration', 'pii', 'promptInjections'].map((check) => ({
    id: `qualifire.${check}`,
    credentials: key,
  })),
  { id: 'qualifire.hallucinations', credentials: key, after: true },
  { id: 'qualifire.grounding', credentials: key, after: true },
  { id: 'qualifire.policy', parameters: { policies: ['Be kind.'] }, credentials: key },
  {
    id: 'qualifire.policy',
    parameters: { policies: ['Be kind.'], policy_target: 'output' },
    credentials: key,
    after: true,
  },
  { id: 'sydelabs.sydeguard', credentials: key },
  { id: 'walledai.walledprotect', credentials: key },
  { id: 'zscaler.scan', parameters: { policyId: '42' }, credentials: key },
  { id: 'zscaler.scan', parameters: { policyId: 42 }, credentials: key, after: true },
];
