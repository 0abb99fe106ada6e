import { newestMigration } from '../../../scripts/lib/migrations.ts'
import type { Account } from './account.ts'
import { checkoutAt, consumersOf, creationsOf, type Ended, must, NAME, names, same } from './walking.ts'

/**
 * Walks through npm run deploy and npm run stores with several stores. Each is a test, like those of `walks`, and they go
 * on in the same account.
 *
 * @param folder a checkout of two stores, which gets a third one
 * @param account with what one store needs, and with a Worker that was uploaded once
 */
export function walksOfStores(folder: string, account: Account): [name: string, walk: () => Promise<void>][] {
  const { script, deployAndKeep } = checkoutAt(folder)
  const stores = (...args: string[]) => script(account, 'stores', [...args, '--remote'])
  const uploads = (n: number) => same('uploads', account.uploads.length, n)
  const appliedTo = (store: number) =>
    account.databases[store]?.sqlite.prepare('SELECT count(*) AS n FROM d1_migrations').get()?.n
  return [
    [
      'two stores: a first run would make both in the jurisdiction, and migrate both before the upload',
      async () => expectPlanned(await deployAndKeep(account, ['--jurisdiction', 'eu', '--dry-run'])),
    ],
    [
      'two stores: the next run makes the second where the first is, migrates and binds it, applies nothing again, and leaves the secrets alone, also if the second encryption key has replaced the first',
      async () => {
        account.trouble = {}
        account.secrets.delete('ENCRYPTION_KEY_1')
        account.secrets.add('ENCRYPTION_KEY_2')
        const before = creationsOf(account)
        must(await deployAndKeep(account), 0, 'No migrations to apply')
        same('creations', creationsOf(account), before + 2)
        uploads(2)
        const sent = account.uploads[1]?.bindings.filter(({ type }) => type === 'secret_text')
        same('secrets that were sent', sent, [])
        expectBound(account, 2)
        same('migrations of store 1', appliedTo(1), appliedTo(0))
      },
    ],
    [
      'npm run stores -- add --remote makes a third store, and the same one when it is repeated',
      async () => {
        // The cron does this when it has seen the stores. Until then, the command would finish store 1.
        account.databases[0]?.sqlite.exec('INSERT INTO stores (number, first_seen_at) VALUES (0, 0), (1, 0)')
        must(await stores('add'), 0, 'Added store 2')
        must(await stores('add'), 0, 'Finishing store 2')
        same('migrations of store 2', appliedTo(2), appliedTo(0))
        uploads(2)
      },
    ],
    [
      'a migration of store 1 that fails: the code is not uploaded, and the stores behind it are not tried',
      async () => {
        // All migrations will be applied once more, but their tables already exist.
        for (const store of [1, 2]) account.databases[store]?.sqlite.exec('DELETE FROM d1_migrations')
        const ended = await deployAndKeep(account)
        must(ended, 1, 'A migration failed, so the Worker was not uploaded')
        must(ended, 1, `Store 1 (database ${NAME}-1) was not migrated.\nMigrated: 0. Not tried: 2.`)
        same('migrations of store 2', appliedTo(2), 0)
        uploads(2)
      },
    ],
    [
      'the next run of three stores creates nothing, applies nothing again, and binds the third',
      async () => {
        for (const store of [1, 2]) copyMigrations(account, store)
        account.queuesOnPage = 7 // of eight
        const before = creationsOf(account)
        must(await deployAndKeep(account), 0, 'Deployed.')
        same('creations', creationsOf(account), before)
        uploads(3)
        expectBound(account, 3)
        must(await stores(), 0, newestMigration().replace('.sql', ''))
      },
    ],
  ]
}

/** What a dry run must print: it plans for an account that has nothing. */
function expectPlanned({ code, said }: Ended): void {
  const planned = said.match(/(?<=^\$ wrangler )(d1 (create|migrations)|deploy).*/gm) ?? []
  const made = [NAME, `${NAME}-1`].map((name) => `d1 create ${name} --jurisdiction eu`)
  const migrated = ['DB', 'STORE_1'].map((binding) => `d1 migrations apply ${binding} --remote`)
  const expected = [...made, ...migrated, 'deploy --config']
  same('exit code', code, 0)
  same(
    'commands',
    planned.map((command, i) => command.slice(0, expected[i]?.length)),
    expected,
  )
}

/** What the account must have, and the last upload must bind, with this many stores. */
function expectBound(account: Account, count: number): void {
  const further = Array.from({ length: count - 1 }, (_, i) => i + 1)
  const databases = names(account.databases, 'name')
  same('databases', databases, [NAME, ...further.map((n) => `${NAME}-${n}`)])
  const places = account.databases.map(({ jurisdiction }) => jurisdiction)
  same('jurisdictions', places, Array(count).fill('eu'))
  const queues = names(account.queues, 'queue_name').sort()
  const ofStores = [`${NAME}-events`, ...further.map((n) => `${NAME}-events-${n}`)]
  same(
    'queues',
    queues,
    [
      ...ofStores,
      ...['events-dead', 'fetches', 'deliveries', 'slow-deliveries', 'watchers'].map((queue) => `${NAME}-${queue}`),
    ].sort(),
  )
  same('consumers', consumersOf(account), Array(count + 5).fill(1))
  // A later upload does not touch what it does not change.
  const told = account.uploads.flatMap(({ bindings }) => bindings.filter(({ type }) => type !== 'inherit'))
  const bound = new Map(told.map((binding) => [binding.name, binding]))
  const last = new Set(account.uploads.at(-1)?.bindings.map(({ name }) => name))
  for (const n of further) if (!last.has(`EVENTS_${n}`)) throw new Error(`the last upload has no queue of store ${n}`)
  for (const [store, { uuid }] of account.databases.entries()) {
    same(`database of store ${store}`, bound.get(store === 0 ? 'DB' : `STORE_${store}`)?.id, uuid)
    const queue = store === 0 ? `${NAME}-events` : `${NAME}-events-${store}`
    same(`queue of store ${store}`, bound.get(store === 0 ? 'EVENTS' : `EVENTS_${store}`)?.queue_name, queue)
  }
}

/** Fixes the cause: the database knows again what was applied. */
function copyMigrations({ databases }: Account, store: number): void {
  const applied = databases[0]?.sqlite.prepare('SELECT name FROM d1_migrations ORDER BY id').all() ?? []
  for (const { name } of applied) {
    databases[store]?.sqlite.prepare('INSERT INTO d1_migrations (name) VALUES (?)').run(name as string)
  }
}
