import { ROOT } from '../../../scripts/lib/paths.ts'
import { Account } from './account.ts'
import { checkoutAt, consumersOf, creationsOf, must, NAME, names, same } from './walking.ts'

/**
 * Walks through npm run deploy, each a test: the script and wrangler are the real ones, and an account of our own answers
 * them. Nothing leaves this machine.
 */
export function walks(): [name: string, walk: () => Promise<void>][] {
  const { deploy } = checkoutAt(ROOT)
  const account = new Account({ noSubdomain: true })
  const uploads = (n: number) => same('uploads', account.uploads.length, n)
  const creations = () => creationsOf(account)
  return [
    [
      'an account without a workers.dev subdomain is told to choose one',
      async () => {
        const own = ['--public-origin', `https://${NAME}.example.workers.dev`]
        must(await deploy(account, ['--jurisdiction', 'eu', ...own]), 1, 'Choose one under Workers & Pages')
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
      'the next run creates nothing, applies nothing again, and leaves the secrets alone, also if the second encryption key has replaced the first',
      async () => {
        account.secrets.delete('ENCRYPTION_KEY_1')
        account.secrets.add('ENCRYPTION_KEY_2')
        must(await deploy(account), 0, 'No migrations to apply')
        same('creations', creations(), 8)
        uploads(2)
        const sent = account.uploads[1]?.bindings.filter(({ type }) => type === 'secret_text')
        same('secrets that were sent', sent, [])
        same('consumers', consumersOf(account), [1, 1, 1, 1, 1, 1])
      },
    ],
    [
      'a token without a permission is told which it needs',
      async () => {
        account.trouble = { forbidden: '/d1/' }
        must(await deploy(account), 1, 'D1: Edit')
        uploads(2)
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
  same('PUBLIC_ORIGIN', bound.get('PUBLIC_ORIGIN')?.text, 'https://api.example.org')
  same('METRICS', bound.get('METRICS')?.type, 'analytics_engine')
  const tables = database?.sqlite.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'").get()
  if (Number(tables?.n) < 15) throw new Error(`the migrations made ${tables?.n} tables`)
  const migrated = account.asked.findLastIndex((line) => line.endsWith('/query'))
  const uploaded = account.asked.indexOf(`PUT /workers/scripts/${NAME}`)
  if (migrated < 0 || uploaded < migrated) throw new Error('the upload did not come after the migrations')
}
