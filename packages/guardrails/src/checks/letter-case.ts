import { textCheck } from '../text-check.ts';

/** Only ASCII letters count: digits, marks and other scripts have no case here. */
export const allUppercase = textCheck('default.alluppercase', () => (text) => {
  const passes = !/[a-z]/.test(text);
  return { passes, explanation: `The text ${passes ? 'has no' : 'has'} lower-case letters.` };
});

export const allLowercase = textCheck('default.alllowercase', () => (text) => {
  const passes = !/[A-Z]/.test(text);
  return { passes, explanation: `The text ${passes ? 'has no' : 'has'} upper-case letters.` };
});
