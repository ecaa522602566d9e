import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText, nameField, referenceField } from './fields.ts';
import { pageQuery } from './paging.ts';

const guardrailSummary = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable(),
  status: z.enum(['active', 'archived']),
  created_at: instantText,
  last_updated_at: instantText,
  owner_id: z.uuid(),
  updated_by: z.uuid().nullable(),
});

const listGuardrailsResponse = z.object({
  data: z.array(guardrailSummary),
  total: z.int(),
});

const jWTParametersInput = z.object({
  jwksUri: z.string(),
  headerKey: z.string(),
  cacheMaxAge: z.number().default(86400),
  clockTolerance: z.number().default(5),
  maxTokenAge: z.string().default('1d'),
  algorithms: z.array(z.string()).optional(),
});

const modelWhitelistParametersInput = z.object({
  models: z.array(z.string()),
});

const regexMatchParametersInput = z.object({
  rule: z.string(),
  not: z.boolean().default(false),
});

const sentenceCountParametersInput = z.object({
  minSentences: z.number().default(0),
  maxSentences: z.number().default(99999),
  not: z.boolean().default(false),
});

const wordCountParametersInput = z.object({
  minWords: z.number().default(0),
  maxWords: z.number().default(99999),
  not: z.boolean().default(false),
});

const characterCountParametersInput = z.object({
  minCharacters: z.number().default(0),
  maxCharacters: z.number().default(9999999),
  not: z.boolean().default(false),
});

const jSONSchemaParametersInput = z.object({
  schema: z.record(z.string(), z.unknown()),
  not: z.boolean().default(false),
});

const jSONKeysParametersInput = z.object({
  keys: z.array(z.string()),
  operator: z.enum(['any', 'all', 'none']).default('any'),
});

const containsParametersInput = z.object({
  words: z.array(z.string()),
  operator: z.enum(['any', 'all', 'none']).default('any'),
});

const validUrlsParametersInput = z.object({
  onlyDNS: z.boolean().default(false),
  not: z.boolean().default(false),
});

const containsCodeParametersInput = z.object({
  format: z.enum([
    'SQL',
    'Python',
    'TypeScript',
    'JavaScript',
    'Java',
    'C#',
    'C++',
    'C',
    'Ruby',
    'PHP',
    'Swift',
    'Kotlin',
    'Go',
    'Rust',
    'Scala',
    'R',
    'Perl',
    'Shell',
    'HTML',
    'CSS',
    'XML',
    'JSON',
    'YAML',
    'Markdown',
    'Dockerfile',
  ]),
  not: z.boolean().default(false),
});

const webhookParametersInput = z.object({
  webhookURL: z.string(),
  headers: z.record(z.string(), z.unknown()).optional(),
  timeout: z.number().default(3000),
  failOnError: z.boolean().default(false),
});

const endsWithParametersInput = z.object({
  suffix: z.string(),
  not: z.boolean().default(false),
});

const uppercaseParametersInput = z.object({
  not: z.boolean().default(false),
});

const requiredMetadataKeysParametersInput = z.object({
  metadataKeys: z.array(z.string()),
  operator: z.enum(['all', 'any', 'none']).default('all'),
});

const allowedRequestTypesParametersInput = z.object({
  allowedTypes: z
    .array(
      z.enum([
        'complete',
        'chatComplete',
        'embed',
        'rerank',
        'moderate',
        'proxy',
        'imageGenerate',
        'createSpeech',
        'createTranscription',
        'createTranslation',
        'realtime',
        'uploadFile',
        'listFiles',
        'retrieveFile',
        'deleteFile',
        'retrieveFileContent',
        'createBatch',
        'retrieveBatch',
        'cancelBatch',
        'listBatches',
        'getBatchOutput',
        'listFinetunes',
        'createFinetune',
        'retrieveFinetune',
        'cancelFinetune',
        'createModelResponse',
        'getModelResponse',
        'deleteModelResponse',
        'listResponseInputItems',
        'messages',
      ]),
    )
    .optional(),
  blockedTypes: z
    .array(
      z.enum([
        'complete',
        'chatComplete',
        'embed',
        'rerank',
        'moderate',
        'proxy',
        'imageGenerate',
        'createSpeech',
        'createTranscription',
        'createTranslation',
        'realtime',
        'uploadFile',
        'listFiles',
        'retrieveFile',
        'deleteFile',
        'retrieveFileContent',
        'createBatch',
        'retrieveBatch',
        'cancelBatch',
        'listBatches',
        'getBatchOutput',
        'listFinetunes',
        'createFinetune',
        'retrieveFinetune',
        'cancelFinetune',
        'createModelResponse',
        'getModelResponse',
        'deleteModelResponse',
        'listResponseInputItems',
        'messages',
      ]),
    )
    .optional(),
});

const sydeGuardParametersInput = z.object({
  prompt_injection_threshold: z.number().min(0).max(1).default(0.5),
  toxicity_threshold: z.number().min(0).max(1).default(0.5),
  evasion_threshold: z.number().min(0).max(1).default(0.5),
  timeout: z.number().default(5000),
});

const aporiaParametersInput = z.object({
  projectID: z.string(),
  timeout: z.number().default(5000),
});

const pillarScanParametersInput = z.object({
  scanners: z.array(
    z.enum(['prompt_injection', 'pii', 'secrets', 'toxic_language', 'invisible_characters']),
  ),
  timeout: z.number().default(5000),
});

const patronusParametersInput = z.object({
  redact: z.boolean().default(false),
  timeout: z.number().default(5000),
});

const patronusCustomParametersInput = z.object({
  profile: z.string(),
  timeout: z.number().default(15000),
});

const serviceModerationParametersInput = z.object({
  categories: z.array(
    z.enum([
      'hate',
      'hate/threatening',
      'harassment',
      'harassment/threatening',
      'self-harm',
      'self-harm/intent',
      'self-harm/instructions',
      'sexual',
      'sexual/minors',
      'violence',
      'violence/graphic',
    ]),
  ),
  timeout: z.number().default(5000),
});

const serviceLanguageParametersInput = z.object({
  language: z
    .enum([
      'eng_Latn',
      'zho_Hans',
      'spa_Latn',
      'ara_Arab',
      'por_Latn',
      'ind_Latn',
      'fra_Latn',
      'jpn_Jpan',
      'rus_Cyrl',
      'deu_Latn',
      'kor_Hang',
      'tur_Latn',
      'ita_Latn',
      'pes_Arab',
      'pol_Latn',
      'vie_Latn',
      'nld_Latn',
      'hin_Deva',
      'tha_Thai',
      'heb_Hebr',
      'ben_Beng',
      'swe_Latn',
      'ces_Latn',
      'ron_Latn',
      'ell_Grek',
      'ukr_Cyrl',
      'dan_Latn',
      'fin_Latn',
      'nor_Latn',
      'hun_Latn',
      'cat_Latn',
      'bul_Cyrl',
      'msa_Latn',
      'hrv_Latn',
      'arb_Latn',
      'slk_Latn',
      'lit_Latn',
      'lav_Latn',
      'srp_Cyrl',
      'slv_Latn',
      'est_Latn',
      'urd_Arab',
      'fil_Latn',
      'aze_Latn',
      'tam_Taml',
      'tel_Telu',
      'mar_Deva',
      'kan_Knda',
      'fas_Arab',
    ])
    .optional(),
  not: z.boolean().default(false),
  timeout: z.number().default(5000),
});

const servicePIIParametersInput = z.object({
  redact: z.boolean().default(false),
  categories: z.array(
    z.enum([
      'EMAIL_ADDRESS',
      'PHONE_NUMBER',
      'LOCATION_ADDRESS',
      'NAME',
      'IP_ADDRESS',
      'CREDIT_CARD',
      'SSN',
    ]),
  ),
  timeout: z.number().default(5000),
});

const mistralModerationParametersInput = z.object({
  categories: z.array(
    z.enum([
      'sexual',
      'hate_and_discrimination',
      'violence_and_threats',
      'dangerous_and_criminal_content',
      'selfharm',
      'health',
      'financial',
      'law',
      'pii',
    ]),
  ),
  timeout: z.number().default(5000),
});

const bedrockGuardParametersInput = z.object({
  guardrailVersion: z.string(),
  guardrailId: z.string(),
  redact: z.boolean().default(false),
  timeout: z.number().default(5000),
});

const promptfooParametersInput = z.object({
  redact: z.boolean().default(false),
  timeout: z.number().default(5000),
});

const acuvityScanParametersInput = z.object({
  prompt_injection: z.boolean().default(true),
  prompt_injection_threshold: z.number().min(0).max(1).default(0.5),
  toxic: z.boolean().default(true),
  toxic_threshold: z.number().min(0).max(1).default(0.5),
  jail_break: z.boolean().default(true),
  jail_break_threshold: z.number().min(0).max(1).default(0.5),
  malicious_url: z.boolean().default(true),
  malicious_url_threshold: z.number().min(0).max(1).default(0.5),
  biased: z.boolean().default(true),
  biased_threshold: z.number().min(0).max(1).default(0.5),
  harmful: z.boolean().default(true),
  harmful_threshold: z.number().min(0).max(1).default(0.5),
  language: z.boolean().default(true),
  language_values: z
    .enum(['english', 'chinese', 'spanish', 'french', 'german', 'japanese', 'gibberish'])
    .default('english'),
  pii: z.boolean().default(true),
  pii_redact: z.boolean().default(false),
  pii_categories: z
    .array(
      z.enum([
        'email_address',
        'ssn',
        'person',
        'aba_routing_number',
        'address',
        'bank_account',
        'bitcoin_wallet',
        'credit_card',
        'driver_license',
        'itin_number',
        'location',
        'medical_license',
        'money_amount',
        'passport_number',
        'phone_number',
      ]),
    )
    .optional(),
  secrets: z.boolean().default(true),
  secrets_redact: z.boolean().default(false),
  secrets_categories: z
    .array(
      z.enum(['credentials', 'aws_secret_key', 'github', 'openai', 'stripe', 'jwt', 'private_key']),
    )
    .optional(),
  timeout: z.number().default(5000),
});

const azureContentSafetyParametersInput = z.object({
  blocklistNames: z.array(z.string()).optional(),
  apiVersion: z.string().default('2024-09-01'),
  severity: z.number().default(2),
  categories: z.array(z.enum(['Hate', 'SelfHarm', 'Sexual', 'Violence'])).optional(),
  timeout: z.number().default(5000),
});

const azurePIIParametersInput = z.object({
  domain: z.enum(['none', 'phi']).default('none'),
  apiVersion: z.string().default('2024-11-01'),
  modelVersion: z.string().default('latest'),
  redact: z.boolean().default(false),
  timeout: z.number().default(5000),
});

const pANWPrismaParametersInput = z.object({
  profile_name: z.string(),
  ai_model: z.string().optional(),
  app_user: z.string().optional(),
});

const basicParametersInput = z.record(z.string(), z.unknown());

const guardrailCheckInput = z.object({
  id: z.enum([
    'default.jwt',
    'default.modelWhitelist',
    'default.isAllLowerCase',
    'default.regexMatch',
    'default.sentenceCount',
    'default.wordCount',
    'default.characterCount',
    'default.jsonSchema',
    'default.jsonKeys',
    'default.contains',
    'default.validUrls',
    'default.containsCode',
    'default.webhook',
    'default.endsWith',
    'default.alluppercase',
    'default.requiredMetadataKeys',
    'default.allowedRequestTypes',
    'service.moderateContent',
    'service.language',
    'service.pii',
    'service.gibberish',
    'sydelabs.sydeguard',
    'aporia.validateProject',
    'pillar.scanPrompt',
    'pillar.scanResponse',
    'patronus.phi',
    'patronus.pii',
    'patronus.isConcise',
    'patronus.isHelpful',
    'patronus.isPolite',
    'patronus.noApologies',
    'patronus.noGenderBias',
    'patronus.noRacialBias',
    'patronus.retrievalAnswerRelevance',
    'patronus.toxicity',
    'patronus.custom',
    'mistral.moderateContent',
    'bedrock.guard',
    'promptfoo.guard',
    'promptfoo.pii',
    'promptfoo.harm',
    'acuvity.scan',
    'lasso.classify',
    'azure.contentSafety',
    'azure.pii',
    'panw-prisma-airs.intercept',
  ]),
  parameters: z
    .union([
      jWTParametersInput,
      modelWhitelistParametersInput,
      regexMatchParametersInput,
      sentenceCountParametersInput,
      wordCountParametersInput,
      characterCountParametersInput,
      jSONSchemaParametersInput,
      jSONKeysParametersInput,
      containsParametersInput,
      validUrlsParametersInput,
      containsCodeParametersInput,
      webhookParametersInput,
      endsWithParametersInput,
      uppercaseParametersInput,
      requiredMetadataKeysParametersInput,
      allowedRequestTypesParametersInput,
      sydeGuardParametersInput,
      aporiaParametersInput,
      pillarScanParametersInput,
      patronusParametersInput,
      patronusCustomParametersInput,
      serviceModerationParametersInput,
      serviceLanguageParametersInput,
      servicePIIParametersInput,
      mistralModerationParametersInput,
      bedrockGuardParametersInput,
      promptfooParametersInput,
      acuvityScanParametersInput,
      azureContentSafetyParametersInput,
      azurePIIParametersInput,
      pANWPrismaParametersInput,
      basicParametersInput,
    ])
    .optional(),
  name: nameField.optional(),
  is_enabled: z.boolean().default(true),
});

const guardrailActionsInput = z.object({
  deny: z.boolean().default(false),
  async: z.boolean().default(false),
  on_success: z.object({
    feedback: z.object({
      value: z.number().default(5),
      weight: z.number().default(1),
      metadata: z.string().default(''),
    }),
  }),
  on_fail: z.object({
    feedback: z.object({
      value: z.number().default(-5),
      weight: z.number().default(1),
      metadata: z.string().default(''),
    }),
  }),
  sequential: z.boolean().default(false),
});

const createGuardrailRequestInput = z.object({
  name: nameField,
  workspace_id: referenceField.optional(),
  organisation_id: z.uuid().optional(),
  checks: z.array(guardrailCheckInput).min(1),
  actions: guardrailActionsInput,
});

const createGuardrailResponse = z.object({
  id: z.string(),
  slug: z.string(),
  version_id: z.string(),
});

const jWTParameters = z.object({
  jwksUri: z.string(),
  headerKey: z.string(),
  cacheMaxAge: z.number(),
  clockTolerance: z.number(),
  maxTokenAge: z.string(),
  algorithms: z.array(z.string()),
});

const modelWhitelistParameters = z.object({
  models: z.array(z.string()),
});

const regexMatchParameters = z.object({
  rule: z.string(),
  not: z.boolean(),
});

const sentenceCountParameters = z.object({
  minSentences: z.number(),
  maxSentences: z.number(),
  not: z.boolean(),
});

const wordCountParameters = z.object({
  minWords: z.number(),
  maxWords: z.number(),
  not: z.boolean(),
});

const characterCountParameters = z.object({
  minCharacters: z.number(),
  maxCharacters: z.number(),
  not: z.boolean(),
});

const jSONSchemaParameters = z.object({
  schema: z.record(z.string(), z.unknown()),
  not: z.boolean(),
});

const jSONKeysParameters = z.object({
  keys: z.array(z.string()),
  operator: z.enum(['any', 'all', 'none']),
});

const containsParameters = z.object({
  words: z.array(z.string()),
  operator: z.enum(['any', 'all', 'none']),
});

const validUrlsParameters = z.object({
  onlyDNS: z.boolean(),
  not: z.boolean(),
});

const containsCodeParameters = z.object({
  format: z.enum([
    'SQL',
    'Python',
    'TypeScript',
    'JavaScript',
    'Java',
    'C#',
    'C++',
    'C',
    'Ruby',
    'PHP',
    'Swift',
    'Kotlin',
    'Go',
    'Rust',
    'Scala',
    'R',
    'Perl',
    'Shell',
    'HTML',
    'CSS',
    'XML',
    'JSON',
    'YAML',
    'Markdown',
    'Dockerfile',
  ]),
  not: z.boolean(),
});

const webhookParameters = z.object({
  webhookURL: z.string(),
  headers: z.record(z.string(), z.unknown()),
  timeout: z.number(),
  failOnError: z.boolean(),
});

const endsWithParameters = z.object({
  suffix: z.string(),
  not: z.boolean(),
});

const uppercaseParameters = z.object({
  not: z.boolean(),
});

const requiredMetadataKeysParameters = z.object({
  metadataKeys: z.array(z.string()),
  operator: z.enum(['all', 'any', 'none']),
});

const allowedRequestTypesParameters = z.object({
  allowedTypes: z.array(
    z.enum([
      'complete',
      'chatComplete',
      'embed',
      'rerank',
      'moderate',
      'proxy',
      'imageGenerate',
      'createSpeech',
      'createTranscription',
      'createTranslation',
      'realtime',
      'uploadFile',
      'listFiles',
      'retrieveFile',
      'deleteFile',
      'retrieveFileContent',
      'createBatch',
      'retrieveBatch',
      'cancelBatch',
      'listBatches',
      'getBatchOutput',
      'listFinetunes',
      'createFinetune',
      'retrieveFinetune',
      'cancelFinetune',
      'createModelResponse',
      'getModelResponse',
      'deleteModelResponse',
      'listResponseInputItems',
      'messages',
    ]),
  ),
  blockedTypes: z.array(
    z.enum([
      'complete',
      'chatComplete',
      'embed',
      'rerank',
      'moderate',
      'proxy',
      'imageGenerate',
      'createSpeech',
      'createTranscription',
      'createTranslation',
      'realtime',
      'uploadFile',
      'listFiles',
      'retrieveFile',
      'deleteFile',
      'retrieveFileContent',
      'createBatch',
      'retrieveBatch',
      'cancelBatch',
      'listBatches',
      'getBatchOutput',
      'listFinetunes',
      'createFinetune',
      'retrieveFinetune',
      'cancelFinetune',
      'createModelResponse',
      'getModelResponse',
      'deleteModelResponse',
      'listResponseInputItems',
      'messages',
    ]),
  ),
});

const sydeGuardParameters = z.object({
  prompt_injection_threshold: z.number(),
  toxicity_threshold: z.number(),
  evasion_threshold: z.number(),
  timeout: z.number(),
});

const aporiaParameters = z.object({
  projectID: z.string(),
  timeout: z.number(),
});

const pillarScanParameters = z.object({
  scanners: z.array(
    z.enum(['prompt_injection', 'pii', 'secrets', 'toxic_language', 'invisible_characters']),
  ),
  timeout: z.number(),
});

const patronusParameters = z.object({
  redact: z.boolean(),
  timeout: z.number(),
});

const patronusCustomParameters = z.object({
  profile: z.string(),
  timeout: z.number(),
});

const serviceModerationParameters = z.object({
  categories: z.array(
    z.enum([
      'hate',
      'hate/threatening',
      'harassment',
      'harassment/threatening',
      'self-harm',
      'self-harm/intent',
      'self-harm/instructions',
      'sexual',
      'sexual/minors',
      'violence',
      'violence/graphic',
    ]),
  ),
  timeout: z.number(),
});

const serviceLanguageParameters = z.object({
  language: z.enum([
    'eng_Latn',
    'zho_Hans',
    'spa_Latn',
    'ara_Arab',
    'por_Latn',
    'ind_Latn',
    'fra_Latn',
    'jpn_Jpan',
    'rus_Cyrl',
    'deu_Latn',
    'kor_Hang',
    'tur_Latn',
    'ita_Latn',
    'pes_Arab',
    'pol_Latn',
    'vie_Latn',
    'nld_Latn',
    'hin_Deva',
    'tha_Thai',
    'heb_Hebr',
    'ben_Beng',
    'swe_Latn',
    'ces_Latn',
    'ron_Latn',
    'ell_Grek',
    'ukr_Cyrl',
    'dan_Latn',
    'fin_Latn',
    'nor_Latn',
    'hun_Latn',
    'cat_Latn',
    'bul_Cyrl',
    'msa_Latn',
    'hrv_Latn',
    'arb_Latn',
    'slk_Latn',
    'lit_Latn',
    'lav_Latn',
    'srp_Cyrl',
    'slv_Latn',
    'est_Latn',
    'urd_Arab',
    'fil_Latn',
    'aze_Latn',
    'tam_Taml',
    'tel_Telu',
    'mar_Deva',
    'kan_Knda',
    'fas_Arab',
  ]),
  not: z.boolean(),
  timeout: z.number(),
});

const servicePIIParameters = z.object({
  redact: z.boolean(),
  categories: z.array(
    z.enum([
      'EMAIL_ADDRESS',
      'PHONE_NUMBER',
      'LOCATION_ADDRESS',
      'NAME',
      'IP_ADDRESS',
      'CREDIT_CARD',
      'SSN',
    ]),
  ),
  timeout: z.number(),
});

const mistralModerationParameters = z.object({
  categories: z.array(
    z.enum([
      'sexual',
      'hate_and_discrimination',
      'violence_and_threats',
      'dangerous_and_criminal_content',
      'selfharm',
      'health',
      'financial',
      'law',
      'pii',
    ]),
  ),
  timeout: z.number(),
});

const bedrockGuardParameters = z.object({
  guardrailVersion: z.string(),
  guardrailId: z.string(),
  redact: z.boolean(),
  timeout: z.number(),
});

const promptfooParameters = z.object({
  redact: z.boolean(),
  timeout: z.number(),
});

const acuvityScanParameters = z.object({
  prompt_injection: z.boolean(),
  prompt_injection_threshold: z.number(),
  toxic: z.boolean(),
  toxic_threshold: z.number(),
  jail_break: z.boolean(),
  jail_break_threshold: z.number(),
  malicious_url: z.boolean(),
  malicious_url_threshold: z.number(),
  biased: z.boolean(),
  biased_threshold: z.number(),
  harmful: z.boolean(),
  harmful_threshold: z.number(),
  language: z.boolean(),
  language_values: z.enum([
    'english',
    'chinese',
    'spanish',
    'french',
    'german',
    'japanese',
    'gibberish',
  ]),
  pii: z.boolean(),
  pii_redact: z.boolean(),
  pii_categories: z.array(
    z.enum([
      'email_address',
      'ssn',
      'person',
      'aba_routing_number',
      'address',
      'bank_account',
      'bitcoin_wallet',
      'credit_card',
      'driver_license',
      'itin_number',
      'location',
      'medical_license',
      'money_amount',
      'passport_number',
      'phone_number',
    ]),
  ),
  secrets: z.boolean(),
  secrets_redact: z.boolean(),
  secrets_categories: z.array(
    z.enum(['credentials', 'aws_secret_key', 'github', 'openai', 'stripe', 'jwt', 'private_key']),
  ),
  timeout: z.number(),
});

const azureContentSafetyParameters = z.object({
  blocklistNames: z.array(z.string()),
  apiVersion: z.string(),
  severity: z.number(),
  categories: z.array(z.enum(['Hate', 'SelfHarm', 'Sexual', 'Violence'])),
  timeout: z.number(),
});

const azurePIIParameters = z.object({
  domain: z.enum(['none', 'phi']),
  apiVersion: z.string(),
  modelVersion: z.string(),
  redact: z.boolean(),
  timeout: z.number(),
});

const pANWPrismaParameters = z.object({
  profile_name: z.string(),
  ai_model: z.string(),
  app_user: z.string(),
});

const basicParameters = z.record(z.string(), z.unknown());

const guardrailCheck = z.object({
  id: z.enum([
    'default.jwt',
    'default.modelWhitelist',
    'default.isAllLowerCase',
    'default.regexMatch',
    'default.sentenceCount',
    'default.wordCount',
    'default.characterCount',
    'default.jsonSchema',
    'default.jsonKeys',
    'default.contains',
    'default.validUrls',
    'default.containsCode',
    'default.webhook',
    'default.endsWith',
    'default.alluppercase',
    'default.requiredMetadataKeys',
    'default.allowedRequestTypes',
    'service.moderateContent',
    'service.language',
    'service.pii',
    'service.gibberish',
    'sydelabs.sydeguard',
    'aporia.validateProject',
    'pillar.scanPrompt',
    'pillar.scanResponse',
    'patronus.phi',
    'patronus.pii',
    'patronus.isConcise',
    'patronus.isHelpful',
    'patronus.isPolite',
    'patronus.noApologies',
    'patronus.noGenderBias',
    'patronus.noRacialBias',
    'patronus.retrievalAnswerRelevance',
    'patronus.toxicity',
    'patronus.custom',
    'mistral.moderateContent',
    'bedrock.guard',
    'promptfoo.guard',
    'promptfoo.pii',
    'promptfoo.harm',
    'acuvity.scan',
    'lasso.classify',
    'azure.contentSafety',
    'azure.pii',
    'panw-prisma-airs.intercept',
  ]),
  parameters: z.union([
    jWTParameters,
    modelWhitelistParameters,
    regexMatchParameters,
    sentenceCountParameters,
    wordCountParameters,
    characterCountParameters,
    jSONSchemaParameters,
    jSONKeysParameters,
    containsParameters,
    validUrlsParameters,
    containsCodeParameters,
    webhookParameters,
    endsWithParameters,
    uppercaseParameters,
    requiredMetadataKeysParameters,
    allowedRequestTypesParameters,
    sydeGuardParameters,
    aporiaParameters,
    pillarScanParameters,
    patronusParameters,
    patronusCustomParameters,
    serviceModerationParameters,
    serviceLanguageParameters,
    servicePIIParameters,
    mistralModerationParameters,
    bedrockGuardParameters,
    promptfooParameters,
    acuvityScanParameters,
    azureContentSafetyParameters,
    azurePIIParameters,
    pANWPrismaParameters,
    basicParameters,
  ]),
  name: z.string(),
  is_enabled: z.boolean(),
});

const guardrailActions = z.object({
  deny: z.boolean(),
  async: z.boolean(),
  on_success: z.object({
    feedback: z.object({
      value: z.number(),
      weight: z.number(),
      metadata: z.string(),
    }),
  }),
  on_fail: z.object({
    feedback: z.object({
      value: z.number(),
      weight: z.number(),
      metadata: z.string(),
    }),
  }),
  sequential: z.boolean(),
});

const guardrailDetails = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable(),
  status: z.enum(['active', 'archived']),
  created_at: instantText,
  last_updated_at: instantText,
  owner_id: z.uuid(),
  updated_by: z.uuid().nullable(),
  checks: z.array(guardrailCheck),
  actions: guardrailActions,
});

const updateGuardrailRequestInput = z.object({
  name: nameField.optional(),
  checks: z.array(guardrailCheckInput).min(1).optional(),
  actions: guardrailActionsInput.optional(),
});

const updateGuardrailResponse = z.object({
  id: z.string(),
  slug: z.string(),
  version_id: z.string(),
});

export const guardrailsEndpoints = {
  'guardrails.list': endpoint({
    operationId: 'listGuardrails',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'get',
    path: '/guardrails',
    query: z
      .object({
        workspace_id: referenceField.optional(),
        organisation_id: z.uuid().optional(),
        ids: z.string().optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: listGuardrailsResponse,
    errors: [400, 403],
  }),
  'guardrails.create': endpoint({
    operationId: 'createGuardrail',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'post',
    path: '/guardrails',
    body: createGuardrailRequestInput,
    answer: createGuardrailResponse,
    errors: [400, 403, 500],
  }),
  'guardrails.read': endpoint({
    operationId: 'getGuardrail',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'get',
    path: '/guardrails/{guardrailId}',
    answer: guardrailDetails,
    errors: [403, 500],
  }),
  'guardrails.update': endpoint({
    operationId: 'updateGuardrail',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'put',
    path: '/guardrails/{guardrailId}',
    body: updateGuardrailRequestInput,
    answer: updateGuardrailResponse,
    errors: [400, 403],
  }),
  'guardrails.delete': endpoint({
    operationId: 'deleteGuardrail',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'delete',
    path: '/guardrails/{guardrailId}',
    answer: nothing,
    errors: [403, 500],
  }),
};
