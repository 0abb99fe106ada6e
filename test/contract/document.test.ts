import { describe, expect, it } from 'vitest'
import contract from '../../docs/contribute/contract.md?raw'

/*
 * The tests of this folder are the specification, sentence by sentence. A test's name begins with the reference that
 * docs/contribute/contract.md gives beside the sentence. If it shows two sentences, the second reference follows later in the name.
 */
const sources = import.meta.glob<string>(['./*.test.ts', '!./document.test.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
})
const references = (text: string) => text.match(/\[[a-z]+\.\d+\]/g) ?? []

describe('docs/contribute/contract.md', () => {
  it('[contract] names every test of this folder, and no other', () => {
    const tested = new Set<string>()
    for (const [file, source] of Object.entries(sources)) {
      const tests = source.match(/^ *it(\.\w+)*\b/gm) ?? []
      const names = source.match(/['"`]\[[a-z]+\.\d+\] \S.*/g) ?? []
      expect([file, names.length], 'every test is named by a reference').toEqual([file, tests.length])
      for (const reference of names.flatMap(references)) tested.add(reference)
    }
    expect(tested.size).toBeGreaterThan(50)
    expect([...new Set(references(contract))].sort()).toEqual([...tested].sort())
  })

  it('[contract] gives for every line of the specification its tests, or the decision that stands for them', () => {
    const rows = contract.split('\n').filter((line) => line.startsWith('| “'))
    expect(rows.length).toBeGreaterThan(50)
    const shown = /\| (`\[[a-z]+\.\d+\]`|not shown: decided in docs\/|not built here: )/
    expect(rows.filter((row) => !shown.test(row))).toEqual([])
  })
})
