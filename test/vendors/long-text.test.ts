import { describe, expect, it } from 'vitest'
import { indented } from '../../src/console/pages/events/payload-text'
import { apple } from '../../src/vendors/apple'
import { decimal, moneyIn } from '../../src/vendors/lib/money'
import { isId } from '../../src/vendors/lib/read'
import { isoTime } from '../../src/vendors/lib/time'
import { isSeconds } from '../../src/vendors/lib/verify'
import { parseXml } from '../../src/vendors/lib/xml'

/*
 * Every pattern that meets text from outside, fed with 1 MiB of what it is slowest at. In linear time that takes
 * milliseconds. In quadratic time it takes minutes, so the test's own time limit tells the two apart on any machine.
 */
const MIB = 1024 * 1024
const long = (part: string) => part.repeat(Math.ceil(MIB / part.length))

describe('1 MiB of the slowest text', () => {
  it.each<[what: string, work: () => unknown, result: unknown]>([
    ['zeros behind the decimal point, then a letter', () => decimal(`1.${long('0')}x`, 'USD'), null],
    ['zeros behind the decimal point, then a digit', () => decimal(`1.${long('0')}1`, 'USD'), null],
    ['zeros behind the decimal point', () => decimal(`1.${long('0')}`, 'USD'), null],
    ['digits before the decimal point', () => decimal(`${long('1')}.5`, 'USD'), null],
    ['digits of an amount', () => moneyIn(long('1'), 'USD'), null],
    ['digits of a time', () => isoTime(`2026-01-01T00:00:00.${long('1')}Z`), null],
    ['digits of a timestamp', () => isSeconds(`${long('1')}x`), false],
    ['names in a secret', () => apple.checkSecret(long('a.')) === null, false],
    ['characters of an id', () => isId(long('a')), false],
  ])('%s', (_, work, result) => expect(work()).toEqual(result))

  it.each([
    ['an open tag of spaces', `<a${long(' ')}`],
    ['attributes that never end', `<a${long(' b="c"')}`],
    ['a comment that never ends', `<!--${long('-')}`],
    ['a declaration that never ends', `<?${long('?')}`],
    ['text outside of any element', long('a')],
    ['tags that are never closed', long('<a>')],
  ])('XML: %s', (_, xml) => expect(() => parseXml(xml)).toThrow())

  it.each([
    ['spaces in a list', `[${long(' ')}1]`],
    ['lists of spaces', `[${long('[ ],')}1]`],
    ['escapes', JSON.stringify(long('\\"'))],
  ])('JSON on a page: %s', (_, json) => expect(indented(json)?.length).toBeGreaterThan(0))
})
