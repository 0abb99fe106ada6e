import type { Context } from 'hono'
import type { Consumer } from '../../../consumers/read'
import type { HttpEnv } from '../../../http/context'
import { etagOf } from '../../../http/etag'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { type Entered, ExternalIdField, MetadataFields, PersonFields } from './fields'
import { titleOf } from './words'

/** The form that changes a consumer, or gives it another external id. It changes only what the user has seen. */
export function editPage(c: Context<HttpEnv>, row: Consumer, entered: Entered, { mistakes, status } = UNSENT) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Edit consumer', section: 'consumers', above: [titleOf(row), path], status },
    <>
      <Head title="Edit consumer" />
      <Post c={c} to={`${path}/edit`} class="form">
        <input type="hidden" name="etag" value={etagOf(row.revision)} autocomplete="off" />
        <Wrong>{mistakes.form}</Wrong>
        <PersonFields entered={entered} mistakes={mistakes} />
        <MetadataFields entered={entered} mistakes={mistakes} />
        <ExternalIdField
          entered={entered}
          mistakes={mistakes}
          label="Add another ID of yours"
          hint={`The consumer keeps the IDs that it has${row.external_ids.length > 0 ? `: ${row.external_ids.slice(0, 3).join(', ')}` : ''}${row.external_ids.length > 3 ? ', …' : ''}. An ID cannot be removed.`}
        />
        <SubmitOrCancel label="Save" back={path} />
      </Post>
    </>,
  )
}
