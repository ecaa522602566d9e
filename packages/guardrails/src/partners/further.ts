import { CheckError } from '../check.ts';
import { below } from './address.ts';
import type { Asked, PartnerVerdict } from './partner.ts';
import { messagesOf, partnerCheck, roleOf } from './partner-check.ts';
import type { Reply } from './reply.ts';

/** Partners with one check each, in the order of their names. */
export const furtherPartners = {
  'cato.analyze': partnerCheck('cato.analyze', {
    name: 'Cato',
    request(asked) {
      const { credentials, parameters } = asked;
      const { userEmail, keyAlias } = parameters;
      return {
        url: below(credentials.baseURL ?? 'https://api.aisec.catonetworks.com', '/fw/v1/analyze'),
        headers: {
          authorization: `Bearer ${credentials.apiKey}`,
          ...(userEmail === undefined ? {} : { 'x-cato-user-email': userEmail }),
          ...(keyAlias === undefined ? {} : { 'x-cato-gateway-key-alias': keyAlias }),
        },
        body: { messages: messagesOf(asked) },
      };
    },
    verdict(reply, { parts }) {
      // The one member that every answer has, whatever it comes to.
      reply.at('analysis_result').entries();
      const action = reply.maybe('required_action')?.maybe('action_type')?.text();
      if (action !== 'anonymize_action')
        return { found: action === 'block_action', data: { action: action ?? null } };
      const redacted = reply
        .at('redacted_chat')
        .at('all_redacted_messages')
        .listOf(parts.length)
        .map((message, index) => unlessSame(message.at('content').text(), parts[index]));
      return { found: redacted.every((part) => part === null), data: { action }, redacted };
    },
  }),

  'crowdstrike-aidr.guardChatCompletions': partnerCheck('crowdstrike-aidr.guardChatCompletions', {
    name: 'CrowdStrike AIDR',
    request(asked) {
      const { credentials, event, context } = asked;
      const { model } = context.request;
      return {
        url: below(credentials.baseUrl, '/v1/guard_chat_completions'),
        headers: { authorization: `Bearer ${credentials.apiKey}` },
        body: {
          guard_input: { messages: messagesOf(asked) },
          event_type: event === 'beforeRequest' ? 'input' : 'output',
          app_id: 'sluice',
          llm_provider: context.provider,
          ...(typeof model === 'string' ? { model } : {}),
        },
      };
    },
    verdict(reply, { parts }) {
      if (reply.at('status').text() !== 'Success')
        throw new CheckError('HostFailed', 'CrowdStrike AIDR did not succeed.');
      const result = reply.at('result');
      const found = result.at('blocked').flag();
      const data = { policy: result.maybe('policy')?.text() ?? null };
      if (found || !result.at('transformed').flag()) return { found, data };
      const redacted = result
        .at('guard_output')
        .at('messages')
        .listOf(parts.length)
        .map((message, index) => unlessSame(message.at('content').text(), parts[index]));
      return { found, data, redacted };
    },
  }),

  'f5-guardrails.scan': partnerCheck('f5-guardrails.scan', {
    name: 'F5 Guardrails',
    each: true,
    request: ({ credentials, parameters: { projectId }, text }) => ({
      url: below(credentials.calypsoUrl ?? 'https://us1.calypsoai.app', '/backend/v1/scans'),
      headers: { authorization: `Bearer ${credentials.apiKey}` },
      body: { input: text, project: projectId },
    }),
    verdict(reply, { parameters: { redact }, text }) {
      const outcome = reply
        .at('result')
        .at('outcome')
        .oneOf('cleared', 'flagged', 'redacted', 'blocked');
      const data = { outcome };
      if (!redact || outcome === 'cleared' || outcome === 'blocked')
        return { found: outcome !== 'cleared', data };
      const part = unlessSame(reply.maybe('redactedInput')?.text() ?? text, text);
      return { found: part === null, data, redacted: [part] };
    },
  }),

  'javelin.guardrails': partnerCheck('javelin.guardrails', {
    name: 'Javelin',
    request: ({ credentials: { apiKey, domain, application }, text }) => ({
      url: `https://${domain}/v1/guardrails/apply`,
      headers: {
        'x-javelin-apikey': apiKey,
        ...(application === undefined ? {} : { 'x-javelin-application': application }),
      },
      body: { input: { text }, config: {}, metadata: {} },
    }),
    verdict(reply) {
      const assessments = reply
        .at('assessments')
        .list()
        .flatMap((assessment) => assessment.entries());
      if (assessments.length === 0) return reply.at('assessments').refuse('about anything');
      const rejected = assessments.flatMap(([kind, said]) =>
        said.at('request_reject').flag() ? [kind] : [],
      );
      return { found: rejected.length > 0, data: { rejected } };
    },
  }),

  'lakera.guard': partnerCheck('lakera.guard', {
    name: 'Lakera',
    request: ({ credentials, parameters: { projectID }, event, parts }) => ({
      url: below(credentials.baseURL ?? 'https://api.lakera.ai', '/v2/guard'),
      headers: { authorization: `Bearer ${credentials.apiKey}` },
      body: {
        messages: parts.map((content) => ({ role: roleOf(event), content })),
        ...(projectID === undefined ? {} : { project_id: projectID }),
        breakdown: true,
        payload: true,
      },
    }),
    /** Personal data alone is taken out, where the answer says where it stands. */
    verdict(reply, { parts, parameters: { endInclusive } }) {
      const found = reply.at('flagged').flag();
      const detected = (reply.maybe('breakdown')?.list() ?? []).flatMap((item) =>
        item.at('detected').flag() ? [item.at('detector_type').text()] : [],
      );
      const data = { detected };
      const isPersonal = detected.length > 0 && detected.every((type) => type.startsWith('pii'));
      if (!found || !isPersonal) return { found, data };
      const places = (reply.maybe('payload')?.list() ?? []).map((item) => ({
        part: item.maybe('message_id')?.number() ?? 0,
        start: item.at('start').number(),
        end: item.at('end').number() + (endInclusive ? 1 : 0),
        label: item
          .at('detector_type')
          .text()
          .replace(/^pii\//, '')
          .toUpperCase(),
      }));
      places.sort((first, second) => second.start - first.start);
      const redacted = parts.map((part, index) =>
        unlessSame(
          places
            .filter((place) => place.part === index)
            .reduce(
              (all, { start, end, label }) => `${all.slice(0, start)}[${label}]${all.slice(end)}`,
              part,
            ),
          part,
        ),
      );
      return { found: redacted.every((part) => part === null), data, redacted };
    },
  }),

  'promptsecurity.protectPrompt': partnerCheck(
    'promptsecurity.protectPrompt',
    protecting('prompt'),
  ),
  'promptsecurity.protectResponse': partnerCheck(
    'promptsecurity.protectResponse',
    protecting('response'),
  ),

  'walledai.walledprotect': partnerCheck('walledai.walledprotect', {
    name: 'Walled AI',
    request: ({ credentials: { apiKey }, parameters, text }) => ({
      url: 'https://services.walled.ai/v1/walled-protect',
      headers: { 'x-api-key': apiKey },
      body: {
        text,
        generic_safety_check: parameters.generic_safety_check,
        greetings_list: [...parameters.greetings_list],
        pii_list: [...parameters.pii_list],
        compliance_list: [...parameters.compliance_list],
      },
    }),
    verdict(reply) {
      const safety = reply.at('data').at('safety');
      const items = safety.list().map((item) => item.at('isSafe').flag());
      if (items.length === 0) return safety.refuse('about anything');
      return { found: items.includes(false) };
    },
  }),

  'zscaler.scan': partnerCheck('zscaler.scan', {
    name: 'Zscaler AI Guard',
    request: ({ credentials, parameters: { policyId }, event, text }) => ({
      url: below(
        credentials.baseURL ?? 'https://api.us1.zseclipse.net',
        '/v1/detection/execute-policy',
      ),
      headers: { authorization: `Bearer ${credentials.apiKey}` },
      body: { policyId, direction: event === 'beforeRequest' ? 'IN' : 'OUT', content: text },
    }),
    verdict(reply) {
      if (reply.at('statusCode').number() !== 200)
        throw new CheckError('HostFailed', 'Zscaler AI Guard did not succeed.');
      const action = reply.at('action').oneOf('ALLOW', 'DETECT', 'BLOCK');
      return { found: action === 'BLOCK', data: { action } };
    },
  }),
};

/** Its two checks differ by what the text is said to be. */
function protecting(what: 'prompt' | 'response') {
  return {
    name: 'Prompt Security',
    request: ({
      credentials: { apiKey, apiDomain },
      text,
    }: Asked<'promptsecurity.protectPrompt'>) => ({
      url: `https://${apiDomain}/api/protect`,
      headers: { 'app-id': apiKey },
      body: { [what]: text },
    }),
    verdict: (reply: Reply): PartnerVerdict => ({
      found: !reply.at('result').at(what).at('passed').flag(),
    }),
  };
}

function unlessSame(text: string, before: string | undefined): string | null {
  return text === before ? null : text;
}
