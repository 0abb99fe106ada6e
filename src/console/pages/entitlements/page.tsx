import type { Context } from 'hono'
import { MAX_FEATURES } from '../../../catalog/limits'
import type { Consumer } from '../../../consumers/store'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { titleOf } from '../consumers/words'
import type { Entitlements } from './read'
import { Shown } from './section'

/** All entitlements of a consumer. */
export function entitlementsPage(c: Context<HttpEnv>, row: Consumer, of: Entitlements | null) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Entitlements', section: 'consumers', above: [titleOf(row), path] },
    <>
      <Head title={`Entitlements of ${titleOf(row)}`} />
      <Shown c={c} consumer={row.id} of={of} most={MAX_FEATURES} />
    </>,
  )
}
