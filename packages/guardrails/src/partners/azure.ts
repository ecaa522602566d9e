import type { JsonObject } from '@sluice/providers';
import { CheckError } from '../check.ts';
import { below } from './address.ts';
import type { Asked, Partner, PartnerRequest } from './partner.ts';
import { partnerCheck } from './partner-check.ts';

type AzureId =
  | 'azure.contentSafety'
  | 'azure.pii'
  | 'azure.shieldPrompt'
  | 'azure.protectedMaterial';

/** A key of the resource, or a token of Entra for whoever may use it. */
const signIn: Partner<AzureId>['signIn'] = {
  request({ credentials: { azureAuthMode, tenantId, clientId = '', clientSecret = '' } }) {
    if (azureAuthMode !== 'entra') return undefined;
    const form = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      scope: 'https://cognitiveservices.azure.com/.default',
      grant_type: 'client_credentials',
    });
    return {
      url: `https://login.microsoftonline.com/${tenantId}/oauth2/v2.0/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    };
  },
  token: (reply) => reply.at('access_token').text(),
};

function question(
  { credentials, token, parameters }: Pick<Asked<AzureId>, 'credentials' | 'token' | 'parameters'>,
  path: string,
  body: JsonObject,
): PartnerRequest {
  const { customHost, resourceName, apiKey = '' } = credentials;
  return {
    url: below(
      customHost ?? `https://${resourceName}.cognitiveservices.azure.com`,
      `${path}?api-version=${parameters.apiVersion}`,
    ),
    headers:
      token === undefined
        ? { 'ocp-apim-subscription-key': apiKey }
        : { authorization: `Bearer ${token}` },
    body,
  };
}

export const azurePartners = {
  'azure.contentSafety': partnerCheck('azure.contentSafety', {
    name: 'Azure Content Safety',
    signIn,
    request(asked) {
      const { categories, blocklistNames } = asked.parameters;
      return question(asked, '/contentsafety/text:analyze', {
        text: textOf(asked, 10_000),
        ...(categories === undefined ? {} : { categories }),
        blocklistNames,
      });
    },
    verdict(reply, { parameters: { severity } }) {
      const categories = reply
        .at('categoriesAnalysis')
        .list()
        .map((item) => ({
          category: item.at('category').text(),
          severity: item.at('severity').number(),
        }));
      const blocklists = reply.maybe('blocklistsMatch')?.list() ?? [];
      const isGrave = categories.some((item) => item.severity >= severity);
      return {
        found: isGrave || blocklists.length > 0,
        data: { categories, blocklists: blocklists.map((item) => item.at('blocklistName').text()) },
      };
    },
  }),

  'azure.pii': partnerCheck('azure.pii', {
    name: 'Azure Language',
    signIn,
    request(asked) {
      const { domain, modelVersion, piiCategories, language = 'en' } = asked.parameters;
      return question(asked, '/language/:analyze-text', {
        kind: 'PiiEntityRecognition',
        parameters: {
          domain,
          modelVersion,
          ...(piiCategories === undefined ? {} : { piiCategories }),
        },
        analysisInput: {
          documents: asked.parts.map((text, index) => ({ id: String(index), text, language })),
        },
      });
    },
    verdict(reply, { parts, parameters: { redact } }) {
      const results = reply.at('results');
      // A document that could not be looked at is among the errors, and nowhere else.
      const documents = results.at('documents').listOf(parts.length);
      const found = parts.map((_, index) => {
        const document =
          documents.find((item) => item.at('id').text() === String(index)) ??
          results.refuse('about each text');
        const categories = document
          .at('entities')
          .list()
          .map((entity) => entity.at('category').text());
        return { categories, text: document.at('redactedText').text() };
      });
      const isFound = found.some(({ categories }) => categories.length > 0);
      const data = { categories: [...new Set(found.flatMap(({ categories }) => categories))] };
      if (!redact) return { found: isFound, data };
      const redacted = found.map(({ categories, text }) => (categories.length > 0 ? text : null));
      return { found: false, data, redacted };
    },
  }),

  'azure.shieldPrompt': partnerCheck('azure.shieldPrompt', {
    name: 'Azure Prompt Shields',
    only: 'beforeRequest',
    signIn,
    request: (asked) =>
      question(asked, '/contentsafety/text:shieldPrompt', {
        userPrompt: textOf(asked, 10_000),
        documents: [],
      }),
    verdict(reply) {
      const found = reply.at('userPromptAnalysis').at('attackDetected').flag();
      return { found, data: { userPromptAttack: found } };
    },
  }),

  'azure.protectedMaterial': partnerCheck('azure.protectedMaterial', {
    name: 'Azure Protected Material',
    only: 'afterRequest',
    signIn,
    request: (asked) =>
      question(asked, '/contentsafety/text:detectProtectedMaterial', {
        text: textOf(asked, 10_000),
      }),
    verdict: (reply) => ({
      found: reply.at('protectedMaterialAnalysis').at('detected').flag(),
    }),
  }),
};

/** What is longer is refused there; said here, it is the request's own doing. */
function textOf({ text }: Pick<Asked<AzureId>, 'text'>, lengthMax: number): string {
  if (text.length > lengthMax)
    throw new CheckError('TextTooLong', `The text is longer than ${lengthMax} characters.`);
  return text;
}
