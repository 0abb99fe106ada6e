import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newSecret, storeOfSecret } from '../../src/api-keys/secret'
import { MAX_STORE, newConnectionId, newId, newProjectId, storeOfConnection, storeOfProject } from '../../src/lib/ids'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const stores = fc.integer({ min: 0, max: MAX_STORE })

describe('ids name their store', () => {
  it('whatever its number', () => {
    fc.assert(
      fc.property(stores, (store) => {
        expect(storeOfProject(newProjectId(NOW, store))).toBe(store)
        expect(storeOfConnection(newConnectionId(NOW, store))).toBe(store)
      }),
    )
  })

  it.each([
    [0, 26, 27],
    [1, 27, 28],
    [31, 27, 28],
    [32, 28, 29],
    [1024, 29, 30],
    [MAX_STORE, 29, 30],
  ])('store %i: a project of %i characters, a connection of %i', (store, ofProject, ofConnection) => {
    expect(newProjectId(NOW, store)).toMatch(new RegExp(`^prj_[0-9a-z]{${ofProject}}$`))
    expect(newConnectionId(NOW, store)).toMatch(new RegExp(`^con_[0-9a-z]{${ofConnection}}$`))
  })

  it('as they were before there were stores: store 0', () => {
    expect(storeOfProject('prj_01m815v8wmkn1jcrtze49edtkv')).toBe(0)
    expect(storeOfConnection('con_01m815v8wmkn1jcrtze49edtkv')).toBe(0)
  })

  it.each([-1, 1.5, MAX_STORE + 1])('there is no store %d', (store) => {
    expect(() => newProjectId(NOW, store)).toThrow('there is no store')
    expect(() => newConnectionId(NOW, store)).toThrow('there is no store')
  })
})

const project = newId('prj', NOW)
it.each([
  ['', 'nothing'],
  [project.slice(0, -1), 'a character less'],
  [`${project}0`, 'a store with a leading zero'],
  [`${project}1234`, 'four characters of a store'],
  [project.toUpperCase(), 'upper case'],
  [`${project}u`, 'a letter that is not in the alphabet'],
  [project.replace('prj', 'con'), 'another prefix'],
  [`${project}\n`, 'a line break'],
])('%j is not the id of a project: %s', (id) => {
  expect(storeOfProject(id)).toBeNull()
})

it('a connection id with one wrong character, or two exchanged ones, is none', () => {
  const digit = fc.constantFrom(...'0123456789abcdefghjkmnpqrstvwxyz')
  fc.assert(
    fc.property(stores, fc.nat(), digit, (store, at, other) => {
      const id = newConnectionId(NOW, store)
      const i = 4 + (at % (id.length - 4))
      const changed = id.slice(0, i) + other + id.slice(i + 1)
      if (changed !== id) expect(storeOfConnection(changed)).toBeNull()
      const [a = '', b = ''] = [id[i], id[i + 1]]
      const exchanged = id.slice(0, i) + b + a + id.slice(i + 2)
      if (b !== '' && exchanged !== id) expect(storeOfConnection(exchanged)).toBeNull()
    }),
  )
})

it.each([0, 1, 255, 4095])('a secret made in store %i says so', async (store) => {
  const { secret } = await newSecret(store)
  expect(secret).toMatch(/^svc_v1_[0-9a-f]{96}$/)
  expect(storeOfSecret(secret)).toBe(store)
})
