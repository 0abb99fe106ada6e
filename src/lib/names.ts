/*
 * How names are compared: without accents, whatever the case of letters, by their words in any order. A name is stored with its keys, and an
 * index finds the keys that begin with what somebody types.
 */

/** Words of a name that can be found: so many rows a name takes at most. */
const MAX_WORDS = 10
/** Letters of a word that are compared. */
const MAX_LETTERS = 24

/** Letters that Unicode does not take apart into a letter of the alphabet and a mark. */
const ALSO: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ŋ: 'n', ŧ: 't', ς: 'σ' },
}
const ALSO_LETTERS = new RegExp(`[${Object.keys(ALSO).join('')}]`, 'g')

/** Apostrophes are left out, so that “oneil” and “o’neil” are the same. */
const APOSTROPHES = /['’‘ʼ`´]/g
/** Everything else that is no letter, mark, digit or symbol separates words. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}\p{S}]+/u

/** The words of a name, or of what somebody types, as they are compared. A text of nothing but punctuation is one word. */
export function nameWords(text: string): string[] {
  const plain = text
    .replaceAll(APOSTROPHES, '')
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
  const folded = plain.replaceAll(ALSO_LETTERS, (letter) => ALSO[letter] ?? letter)
  const words = folded.split(BETWEEN_WORDS).filter((word) => word !== '')
  return (words.length > 0 ? words : [text]).slice(0, MAX_WORDS).map((word) => [...word].slice(0, MAX_LETTERS).join(''))
}

/**
 * What is stored with a name: the name itself, by which the database sees whether the keys are of this name, and its keys. Each key has all
 * words, beginning with another one: “ada king lovelace”, “king lovelace ada”, “lovelace ada king”.
 */
export type NameKeys = [name: string, ...keys: string[]]

/** The keys of a name; null if there is no name. */
export function keysOf(name: string | null): NameKeys | null {
  if (name === null) return null
  const words = nameWords(name)
  const keys = words.map((_, i) => [...words.slice(i), ...words.slice(0, i)].join(' '))
  return [name, ...new Set(keys)]
}

/**
 * How keys are looked for. `begins`: what a key begins with. `words`: with which its words must begin besides, where there are several:
 * only the first keys are looked at.
 */
export type NameWalk = { begins: string; words: readonly string[] }

/**
 * The ways to the names that have words which begin with those of a text, in any order: the text as it is; its last word before the others, as
 * in “Lovelace Ada”; and then all names with the first word or the last one.
 */
export function nameWalks(text: string): NameWalk[] {
  const words = nameWords(text)
  const [first = '', last = ''] = [words[0], words.at(-1)]
  const whole = (some: readonly string[]) => ({ begins: some.join(' '), words: [] })
  if (words.length < 2) return [whole(words)]
  return [whole(words), whole([last, ...words.slice(0, -1)]), { begins: first, words }, { begins: last, words }]
}
