import type { Context } from 'hono'
import type { Feature } from '../../../catalog/features-store'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { Confirm } from '../../ui/confirm'
import { Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'

/** Asks before a feature is deleted. */
export function deletePage(c: Context<HttpEnv>, { key, name }: Feature, { mistakes, status } = UNSENT) {
  const { features } = pathsOf(c)
  return show(
    c,
    { title: 'Delete feature', section: 'features', above: ['Features', features], status },
    <Confirm
      c={c}
      title={`Delete “${name}”?`}
      to={`${features}/${key}/delete`}
      verb="Delete feature"
      back={features}
      danger
    >
      <p>
        Calls that ask for <code>{key}</code> get the reason <code>unknown_feature</code> from then on. You cannot
        delete a feature that a plan or a live grant includes.
      </p>
      <Wrong>{mistakes.form}</Wrong>
    </Confirm>,
  )
}
