import { below } from './address.ts';
import { messagesOf, partnerCheck } from './partner-check.ts';

export const lassoPartners = {
  'lasso.classify': partnerCheck('lasso.classify', {
    name: 'Lasso',
    request(asked) {
      const { credentials, parameters, event } = asked;
      const { conversationId, userId, redact } = parameters;
      return {
        url: below(
          credentials.apiEndpoint ?? 'https://server.lasso.security',
          `/gateway/v3/${redact ? 'classifix' : 'classify'}`,
        ),
        headers: {
          'lasso-api-key': credentials.apiKey,
          ...(conversationId === undefined ? {} : { 'lasso-conversation-id': conversationId }),
          ...(userId === undefined ? {} : { 'lasso-user-id': userId }),
        },
        body: {
          messages: messagesOf(asked),
          messageType: event === 'beforeRequest' ? 'PROMPT' : 'COMPLETION',
        },
      };
    },
    /** Violations are told of with the action that its policy takes: only `BLOCK` fails. */
    verdict(reply, { parts, parameters: { redact } }) {
      const isViolation = reply.at('violations_detected').flag();
      const findings = (reply.maybe('findings')?.entries() ?? []).flatMap(([deputy, found]) =>
        found.list().map((finding) => ({ deputy, action: finding.at('action').text() })),
      );
      // A violation without a finding has no action that could be anything milder.
      const found = findings.length === 0 ? isViolation : findings.some(isBlock);
      const messages = redact && isViolation ? reply.maybe('messages') : undefined;
      const redacted = messages?.listOf(parts.length).map((message, index) => {
        const content = message.at('content').text();
        return content === parts[index] ? null : content;
      });
      return { found, data: { findings }, redacted };
    },
  }),
};

const isBlock = ({ action }: { action: string }) => action === 'BLOCK';
