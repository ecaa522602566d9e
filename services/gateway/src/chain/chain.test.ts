import { describe, expect, it } from 'vitest';
import { Chain, type Linked } from './chain.ts';

class Item implements Linked<Item> {
  older: Item | undefined = undefined;
  newer: Item | undefined = undefined;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

function chainOf(...names: string[]) {
  const items = names.map((name) => new Item(name));
  const chain = new Chain<Item>();
  for (const item of items) chain.add(item);
  const named = () => Array.from(chain, ({ name }) => name);
  return { chain, items, named };
}

describe('a chain', () => {
  it('keeps the order in which things began, whichever ends first', () => {
    const { chain, items, named } = chainOf('a', 'b', 'c', 'd');
    expect(named()).toEqual(['a', 'b', 'c', 'd']);
    chain.delete(items[1] as Item);
    expect([named(), chain.oldest?.name, chain.newest?.name]).toEqual([['a', 'c', 'd'], 'a', 'd']);
    chain.delete(items[0] as Item);
    chain.delete(items[3] as Item);
    expect([named(), chain.oldest?.name, chain.newest?.name, chain.size]).toEqual([
      ['c'],
      'c',
      'c',
      1,
    ]);
    chain.delete(items[2] as Item);
    expect([named(), chain.oldest, chain.newest, chain.size]).toEqual([
      [],
      undefined,
      undefined,
      0,
    ]);
  });

  it('holds nothing by what has left it', () => {
    const { chain, items } = chainOf('a', 'b', 'c');
    const [, left] = items;
    chain.delete(left as Item);
    expect([left?.older, left?.newer]).toEqual([undefined, undefined]);
  });

  it('takes back what has left, at the end', () => {
    const { chain, items, named } = chainOf('a', 'b');
    chain.delete(items[0] as Item);
    chain.add(items[0] as Item);
    expect(named()).toEqual(['b', 'a']);
  });

  it('forgets nobody for what does not stand in it', () => {
    const { chain, items, named } = chainOf('a', 'b');
    chain.delete(new Item('stranger'));
    chain.delete(items[1] as Item);
    chain.delete(items[1] as Item);
    expect([named(), chain.size]).toEqual([['a'], 1]);
  });

  it('may lose each item while it is looked at', () => {
    const { chain } = chainOf('a', 'b', 'c');
    const seen: string[] = [];
    for (const item of chain) {
      seen.push(item.name);
      chain.delete(item);
    }
    expect([seen, chain.size]).toEqual([['a', 'b', 'c'], 0]);
  });
});
