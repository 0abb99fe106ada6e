import { describe, expect, it } from 'vitest'
import benchLock from '../bench/package-lock.json?raw'
import lock from '../package-lock.json?raw'
import { closedBesideDomain, hasAddress, storesIn, withIds, withStores } from '../scripts/lib/stores-config'
import config from '../wrangler.toml?raw'
import { SOURCES } from './sources'

/** A package in a lock file. `resolved`: where it comes from. .npmrc leaves it out for the registry that npm is set to. */
type Locked = { link?: boolean; integrity?: string; resolved?: string }

it('bounds how many batches of each queue are handled at once', () => {
  const consumers = config.split('[[').filter((block) => block.startsWith('queues.consumers]]'))
  expect(consumers).toHaveLength(6)
  for (const block of consumers) expect(block).toMatch(/^max_concurrency = [1-9]\d*\b/m)
})

it('meets hosts of its own zone from outside, where customers choose what is fetched', () => {
  expect(config).toMatch(/^compatibility_flags = \[[^\]]*"global_fetch_strictly_public"/m)
})

it('knows nothing of the identity provider that npm start -- --idp runs', () => {
  expect(config).toMatch(/^main = "src\/index.ts"$/m)
  expect(SOURCES.filter(({ code }) => /LOCAL_IDP|idp\.example\.com/.test(code)).map(({ path }) => path)).toEqual([])
  expect(SOURCES.flatMap(({ imports }) => imports.filter(({ target }) => target.includes('idp')))).toEqual([])
})

it('has no addresses for versions that are not deployed, and a bound of CPU time', () => {
  expect(config).toMatch(/^preview_urls = false$/m)
  expect(config).toMatch(/^\[limits\]\ncpu_ms = 10_000$/m)
})

describe('the address below workers.dev', () => {
  const old = config.replace('[vars]', '[vars]\nOTHER_HOSTS = "old.example.com, platform-api.acme.workers.dev"')
  it.each([
    ['is open without a domain', config, 'https://platform-api.acme.workers.dev', true],
    ['is closed beside a domain', config, 'https://api.example.com', false],
    ['is open beside a domain while OTHER_HOSTS has it', old, 'https://api.example.com', true],
  ])('%s', (_, text, origin, isOpen) => {
    expect(closedBesideDomain(text, origin)).toMatch(new RegExp(`^workers_dev = ${isOpen}$`, 'm'))
    // Then nothing leads to the Worker without a route.
    expect(hasAddress(text, origin)).toBe(isOpen)
    expect(hasAddress(`routes = [{ pattern = "api.example.com", custom_domain = true }]\n${text}`, origin)).toBe(true)
  })
})

it.each(Object.entries({ lock, benchLock }))(
  '%s has a digest of each package, and no source but the registry',
  (_, text) => {
    const { packages } = JSON.parse(text) as { packages: Record<string, Locked> }
    const foreign = Object.entries(packages).filter(
      ([path, { link, integrity, resolved }]) =>
        path.includes('node_modules/') && !link && !(integrity?.startsWith('sha512-') && resolved === undefined),
    )
    expect(Object.keys(packages).length).toBeGreaterThan(10)
    expect(foreign).toEqual([])
  },
)

describe('a configuration with further stores', () => {
  const two = withStores(config, [1])

  it('is the one before, comments included, with a database, a producer and a consumer for each', () => {
    expect(two.startsWith(config.trimEnd())).toBe(true)
    expect(storesIn(withStores(two, [2])).map(({ binding, database, queue }) => [binding, database, queue])).toEqual([
      ['DB', 'platform-api', 'platform-api-events'],
      ['STORE_1', 'platform-api-1', 'platform-api-events-1'],
      ['STORE_2', 'platform-api-2', 'platform-api-events-2'],
    ])
    const settings = (queue: string) =>
      two
        .split('[[')
        .find((block) => block.startsWith('queues.consumers]]') && block.includes(`queue = "${queue}"\n`))
        ?.match(/^(max_\w+|dead_letter_queue) = ("[^"]*"|\d+)/gm)
    expect(settings('platform-api-events-1')).toHaveLength(5)
    expect(settings('platform-api-events-1')).toEqual(settings('platform-api-events'))
  })

  it('gets the id of each database in its own block, and nowhere else', () => {
    const ids = new Map([
      [0, 'id-of-the-directory'],
      [1, 'id-of-store-1'],
    ])
    const placed = withIds(two, ids)
    expect(storesIn(placed).map(({ id }) => id)).toEqual([...ids.values()])
    expect(placed.split('\n').filter((line, i) => line !== two.split('\n')[i])).toHaveLength(2)
    expect(() => withIds(two, new Map([[0, 'id-of-the-directory']]))).toThrow('store 1')
  })

  it('is refused where a store has no queue, or one that is not named for it', () => {
    expect(() => storesIn(two.replace('binding = "EVENTS_1"', 'binding = "OTHER"'))).toThrow('EVENTS_1')
    expect(() => storesIn(two.replaceAll('platform-api-events-1', 'platform-api-more'))).toThrow('store 1')
    expect(() => storesIn(config.replaceAll('platform-api-events"', 'platform-api-events-2"'))).toThrow('store 0')
  })
})
