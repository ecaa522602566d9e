import { flag } from '../parameter-fields.ts';
import { partnerParameters } from '../partner-fields.ts';

const open = { parameters: partnerParameters({ redact: flag(false) }), isOpen: true };

export const promptfooChecks = {
  'promptfoo.guard': open,
  'promptfoo.pii': open,
  'promptfoo.harm': open,
};
