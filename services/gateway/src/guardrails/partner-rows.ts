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
];
