import type { Account } from './account.ts'
import { checkoutAt, consumersOf, creationsOf, must, NAME, names, ORIGIN, same } from './walking.ts'

/**
 * Walks through the first runs of npm run deploy, each a test: the script and wrangler are the real ones, and an account of our own
 * answers them. Nothing leaves this machine. `walksOfStores` goes on from here.
 *
 * @param folder a checkout of one store
 * @param account an empty one
 */
export function walks(folder: string, account: Account): [name: string, walk: () => Promise<void>][] {
  const { deploy } = checkoutAt(folder)
  const uploads = (n: number) => same('uploads', account.uploads.length, n)
  const creations = () => creationsOf(account)
  return [
    [
      'an account without a workers.dev subdomain is told to choose one',
      async () => {
        account.trouble = { noSubdomain: true }
        must(await deploy(account, ['--jurisdiction', 'eu']), 1, 'Choose one under Workers & Pages')
        same('creations', creations(), 8)
        uploads(0)
      },
    ],
    [
      'the first run that gets through continues from there, and generates secrets',
      async () => {
        account.trouble = {}
        must(await deploy(account), 0, 'Deployed.')
        same('creations', creations(), 8)
        uploads(1)
        expectDeployed(account)
      },
    ],
    [
      'a token without a permission is told which it needs',
      async () => {
        account.trouble = { forbidden: '/d1/' }
        must(await deploy(account), 1, 'D1: Edit')
        uploads(1)
      },
    ],
  ]
}

/** What the account must have after the first upload. */
function expectDeployed(account: Account): void {
  const [database] = account.databases
  same('queues', names(account.queues, 'queue_name'), [
    `${NAME}-events`,
    `${NAME}-events-dead`,
    `${NAME}-fetches`,
    `${NAME}-deliveries`,
    `${NAME}-slow-deliveries`,
    `${NAME}-watchers`,
  ])
  same('database', [database?.name, database?.jurisdiction], [NAME, 'eu'])
  same('namespaces', names(account.namespaces, 'title'), [`${NAME}-kv`])
  same('secrets', [...account.secrets].sort(), ['CODE_PEPPER', 'ENCRYPTION_KEY_1'])
  same('consumers', consumersOf(account), [1, 1, 1, 1, 1, 1])
  const bound = new Map(account.uploads[0]?.bindings.map((binding) => [binding.name, binding]))
  same('DB', bound.get('DB')?.id, database?.uuid)
  same('KV', bound.get('KV')?.namespace_id, account.namespaces[0]?.id)
  same('DELIVERIES', bound.get('DELIVERIES')?.queue_name, `${NAME}-deliveries`)
  same('SLOW_DELIVERIES', bound.get('SLOW_DELIVERIES')?.queue_name, `${NAME}-slow-deliveries`)
  same('FETCHES', bound.get('FETCHES')?.queue_name, `${NAME}-fetches`)
  same('WATCHERS', bound.get('WATCHERS')?.queue_name, `${NAME}-watchers`)
  same('PUBLIC_ORIGIN', bound.get('PUBLIC_ORIGIN')?.text, ORIGIN)
  same('METRICS', bound.get('METRICS')?.type, 'analytics_engine')
  const tables = database?.sqlite.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'").get()
  if (Number(tables?.n) < 15) throw new Error(`the migrations made ${tables?.n} tables`)
  const migrated = account.asked.findLastIndex((line) => line.endsWith('/query'))
  const uploaded = account.asked.indexOf(`PUT /workers/scripts/${NAME}`)
  if (migrated < 0 || uploaded < migrated) throw new Error('the upload did not come after the migrations')
}
