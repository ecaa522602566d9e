import {
  at,
  hasAddress,
  header,
  isForbidden,
  masked,
  textAt,
  textsAt,
  type Vendor,
} from './vendor.ts';

const bearer = header('authorization', 'Bearer ');

/** Apart from its settings, what one text comes to. */
const judged = (
  host: string,
  path: string,
  knows: Vendor['knows'],
  input: string,
  answer: (isBad: boolean, body: unknown) => unknown,
): Vendor => ({
  host,
  path,
  knows,
  answer({ body }) {
    const text = textAt(body, input);
    return text === undefined ? undefined : answer(isForbidden(text), body);
  },
});

const patronus: Vendor = {
  host: 'api.patronus.ai',
  path: '/v1/evaluate',
  knows: header('x-api-key'),
  answer({ body }) {
    const evaluator = textAt(body, 'evaluators.0.evaluator');
    const output = textAt(body, 'evaluated_model_output');
    if (evaluator === undefined || output === undefined) return undefined;
    // Its judges want to know what was asked, and by what they judge.
    const isFinder = evaluator === 'pii' || evaluator === 'phi';
    if (!isFinder && textAt(body, 'evaluated_model_input') === undefined) return undefined;
    if (evaluator === 'judge' && textAt(body, 'evaluators.0.criteria') === undefined)
      return undefined;
    const start = output.indexOf('ada@example.com');
    const isFound = isFinder ? start >= 0 : isForbidden(output);
    return {
      results: [
        {
          evaluator_id: evaluator,
          status: 'success',
          error_message: null,
          evaluation_result: {
            pass: !isFound,
            additional_info: { positions: start < 0 ? [] : [[start, start + 15]] },
          },
        },
      ],
    };
  },
};

const acuvity: Vendor = {
  host: 'eu.acuvity.test',
  path: '/_acuvity/scan',
  // A token of its own: its claims say where it is for.
  knows: ({ headers }) =>
    /^Bearer e30\.[\w-]+\.partner-key-7f3a9c$/.test(headers.authorization ?? ''),
  answer({ body }) {
    const messages = textsAt(body, 'messages');
    const redactions = at(body, 'redactions');
    const type = textAt(body, 'type');
    if (messages === undefined || !Array.isArray(redactions) || !/^(In|Out)put$/.test(type ?? ''))
      return undefined;
    return {
      decision: 'Allow',
      extractions: messages.map((text) => ({
        data: redactions.includes('email_address') ? masked(text, '****') : text,
        exploits: { prompt_injection: isForbidden(text) ? 0.9 : 0.1 },
        malcontents: { toxic: 0.2 },
        languages: text.includes('verboten') ? { german: 0.97 } : { english: 0.98 },
        PIIs: hasAddress(text) ? { email_address: 1 } : {},
        secrets: {},
      })),
    };
  },
};

/** What a conversation is sent to as messages. */
const messages = (body: unknown) => textsAt(body, 'messages', 'content');

const lasso = (path: string): Vendor => ({
  host: 'server.lasso.security',
  path: `/gateway/v3/${path}`,
  knows: header('lasso-api-key'),
  answer({ body }) {
    const texts = messages(body);
    const type = textAt(body, 'messageType');
    if (texts === undefined || (type !== 'PROMPT' && type !== 'COMPLETION')) return undefined;
    const isBad = texts.some(isForbidden);
    const isPersonal = texts.some(hasAddress);
    const action = isBad ? 'BLOCK' : 'AUTO_MASKING';
    return {
      deputies: { jailbreak: isBad, 'pattern-detection': isPersonal },
      violations_detected: isBad || isPersonal,
      findings: isBad || isPersonal ? { custom: [{ name: 'rule', action, severity: 'HIGH' }] } : {},
      ...(path === 'classifix'
        ? { messages: texts.map((text) => ({ role: 'user', content: masked(text, '<EMAIL>') })) }
        : {}),
    };
  },
});

const pangeaReply = (result: unknown) => ({
  request_id: 'prq_1',
  status: 'Success',
  summary: 'Looked at.',
  result,
});

export const furtherVendors: readonly Vendor[] = [
  patronus,
  acuvity,
  lasso('classify'),
  lasso('classifix'),
  {
    host: 'gr-prd.aporia.com',
    path: '/project-1/validate',
    knows: header('x-aporia-api-key'),
    answer({ body }) {
      const target = textAt(body, 'validation_target');
      const texts = messages(body);
      const text = target === 'response' ? textAt(body, 'response') : texts?.at(-1);
      if (texts === undefined || text === undefined) return undefined;
      return { action: isForbidden(text) ? 'block' : 'passthrough', revised_response: null };
    },
  },
  {
    host: 'api.mistral.ai',
    path: '/v1/moderations',
    knows: bearer,
    answer: ({ body }) =>
      textAt(body, 'model') === undefined
        ? undefined
        : textsAt(body, 'input')?.length === undefined
          ? undefined
          : {
              id: 'mod-1',
              results: textsAt(body, 'input')?.map((text) => ({
                categories: { sexual: true, jailbreaking: isForbidden(text) },
                category_scores: { sexual: 0.9, jailbreaking: 0.8 },
              })),
            },
  },
  judged('ai-guard.eu.pangea.test', '/v1/text/guard', bearer, 'text', (isBad) =>
    pangeaReply({
      detectors: { prompt_injection: { detected: isBad }, secrets_detection: { detected: false } },
    }),
  ),
  {
    host: 'redact.eu.pangea.test',
    path: '/v1/redact_structured',
    knows: bearer,
    answer({ body }) {
      const texts = textsAt(body, 'data');
      if (texts === undefined) return undefined;
      const count = texts.filter(hasAddress).length;
      return pangeaReply({
        count,
        redacted_data: texts.map((text) => masked(text, '<EMAIL_ADDRESS>')),
      });
    },
  },
  {
    host: 'service.api.aisecurity.paloaltonetworks.com',
    path: '/v1/scan/sync/request',
    knows: header('x-pan-token'),
    answer({ body }) {
      const text = textAt(body, 'contents.0.prompt') ?? textAt(body, 'contents.0.response');
      if (text === undefined || textAt(body, 'ai_profile.profile_name') === undefined)
        return undefined;
      const isBad = isForbidden(text);
      return {
        action: isBad ? 'block' : 'allow',
        category: isBad ? 'malicious' : 'benign',
        scan_id: 's1',
      };
    },
  },
  ...['prompt', 'response'].map((path) =>
    judged('api.pillarseclabs.com', `/api/v1/scan/${path}`, bearer, 'message', (isBad, body) =>
      at(body, 'scanners.pii') === true
        ? { pii: false, prompt_injection: isBad, secrets: null, toxic_language: null }
        : undefined,
    ),
  ),
  judged(
    'api.promptfoo.dev',
    '/v1/guard',
    () => true,
    'input',
    (isBad) => ({
      model: 'promptfoo-guard',
      results: [{ categories: { prompt_injection: false, jailbreak: isBad }, flagged: isBad }],
    }),
  ),
  judged(
    'api.promptfoo.dev',
    '/v1/harm',
    () => true,
    'input',
    (isBad) => ({
      model: 'promptfoo-harm',
      results: [{ categories: { hate: isBad }, flagged: isBad }],
    }),
  ),
  {
    host: 'api.promptfoo.dev',
    path: '/v1/pii',
    knows: () => true,
    answer({ body }) {
      const text = textAt(body, 'input');
      if (text === undefined) return undefined;
      const start = text.indexOf('ada@example.com');
      const pii = { entity_type: 'email', start, end: start + 15, pii: 'ada@example.com' };
      return { results: [{ flagged: start >= 0, payload: { pii: start < 0 ? [] : [pii] } }] };
    },
  },
  judged(
    'guard.sydelabs.ai',
    '/api/v1/guard/generate-score',
    header('x-api-key'),
    'prompt',
    (isBad) => ({
      error: null,
      category_scores: [
        { category: 'EVASION', score: 0.001 },
        { category: 'PROMPT_INJECT', score: isBad ? 0.84 : 0.2 },
        { category: 'TOXIC', score: 0.3 },
      ],
    }),
  ),
  {
    host: 'proxy.qualifire.ai',
    path: '/api/evaluation/evaluate',
    knows: header('x-qualifire-api-key'),
    answer({ body }) {
      const input = textAt(body, 'input');
      const output = textAt(body, 'output');
      const asked = Object.entries(body ?? {}).filter(
        ([name, value]) => value === true || (name === 'assertions' && Array.isArray(value)),
      );
      // Whether an answer is grounded cannot be said without it.
      const needsOutput = asked.some(([name]) => /^(grounding|hallucinations)_check$/.test(name));
      if (asked.length !== 1 || (input ?? output) === undefined) return undefined;
      if (needsOutput && output === undefined) return undefined;
      const isBad = isForbidden(`${input} ${output}`);
      return {
        status: isBad ? 'failed' : 'success',
        score: isBad ? 10 : 100,
        evaluationResults: [],
      };
    },
  },
  {
    host: 'api.crowdstrike.test',
    path: '/aidr/v1/guard_chat_completions',
    knows: bearer,
    answer({ body }) {
      const texts = textsAt(body, 'guard_input.messages', 'content');
      const type = textAt(body, 'event_type');
      if (texts === undefined || (type !== 'input' && type !== 'output')) return undefined;
      return {
        status: 'Success',
        summary: 'Looked at.',
        result: {
          policy: 'default',
          blocked: texts.some(isForbidden),
          transformed: texts.some(hasAddress),
          guard_output: {
            messages: texts.map((text) => ({ role: 'user', content: masked(text, '****') })),
          },
        },
      };
    },
  },
  {
    host: 'us1.calypsoai.app',
    path: '/backend/v1/scans',
    knows: bearer,
    answer({ body }) {
      const text = textAt(body, 'input');
      if (text === undefined || textAt(body, 'project') !== 'project-1') return undefined;
      const outcome = isForbidden(text) ? 'blocked' : hasAddress(text) ? 'redacted' : 'cleared';
      return { id: 'scan-1', redactedInput: masked(text, '****'), result: { outcome } };
    },
  },
  judged(
    'api-dev.javelin.live',
    '/v1/guardrails/apply',
    header('x-javelin-apikey'),
    'input.text',
    (isBad) => ({
      assessments: [
        { promptinjectiondetection: { request_reject: isBad, results: { categories: {} } } },
        { trustsafety: { request_reject: false } },
      ],
    }),
  ),
  {
    host: 'api.lakera.ai',
    path: '/v2/guard',
    knows: bearer,
    answer({ body }) {
      const texts = messages(body);
      if (texts === undefined) return undefined;
      const isBad = texts.some(isForbidden);
      const isPersonal = texts.some(hasAddress);
      return {
        flagged: isBad || isPersonal,
        breakdown: [
          { detector_type: 'prompt_attack', detected: isBad },
          { detector_type: 'pii/email', detected: isPersonal },
        ],
        payload: texts.flatMap((text, index) => {
          const start = text.indexOf('ada@example.com');
          return start < 0
            ? []
            : [{ start, end: start + 15, detector_type: 'pii/email', message_id: index }];
        }),
      };
    },
  },
  {
    host: 'eu.prompt.security',
    path: '/api/protect',
    knows: header('app-id'),
    answer({ body }) {
      const what = textAt(body, 'prompt') === undefined ? 'response' : 'prompt';
      const text = textAt(body, what);
      if (text === undefined) return undefined;
      const passed = !isForbidden(text);
      return {
        status: 'success',
        result: { action: passed ? 'log' : 'block', [what]: { passed, violations: [] } },
      };
    },
  },
  judged('services.walled.ai', '/v1/walled-protect', header('x-api-key'), 'text', (isBad, body) =>
    Array.isArray(at(body, 'pii_list'))
      ? { success: true, data: { safety: [{ safety: 'generic', isSafe: !isBad, score: 1 }] } }
      : undefined,
  ),
  judged(
    'api.us1.zseclipse.net',
    '/v1/detection/execute-policy',
    bearer,
    'content',
    (isBad, body) =>
      at(body, 'policyId') === 42 && /^(IN|OUT)$/.test(textAt(body, 'direction') ?? '')
        ? { statusCode: 200, action: isBad ? 'BLOCK' : 'DETECT', detectorResponses: {} }
        : undefined,
  ),
  {
    host: 'api.aisec.catonetworks.com',
    path: '/fw/v1/analyze',
    knows: bearer,
    answer({ body }) {
      const texts = messages(body);
      if (texts === undefined) return undefined;
      const isBad = texts.some(isForbidden);
      const isPersonal = texts.some(hasAddress);
      const action = isBad ? 'block_action' : isPersonal ? 'anonymize_action' : 'monitor_action';
      return {
        required_action: { action_type: action, detection_message: 'found' },
        analysis_result: { policy_drill_down: {} },
        redacted_chat: {
          all_redacted_messages: texts.map((text) => ({
            role: 'user',
            content: masked(text, '[EMAIL_1]'),
          })),
        },
      };
    },
  },
];
