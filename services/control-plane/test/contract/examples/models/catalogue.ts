import { both, type Examples } from '../../example.ts';

export const examples: Examples = {
  'catalogue.providers': { callers: both, query: () => ({ page_size: '2' }) },
  'catalogue.scopes': { callers: both, query: () => ({ page_size: '2' }) },
  'catalogue.conditionKeys': { callers: both },
  'catalogue.endpoints': { callers: both, query: () => ({ page_size: '2' }) },
};
