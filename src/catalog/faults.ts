import { KEY_RULE } from '../lib/catalog-key'
import { Fault } from '../lib/fault'
import { MAX_FEATURES, MAX_PLANS } from './limits'

/** The key in the path of a feature that is to be created. */
export function malformedKey(): Fault {
  return new Fault('validation_failed', `The key in the path ${KEY_RULE}.`, {
    errors: [{ pointer: '', code: 'malformed', message: KEY_RULE }],
  })
}

export function typeFixed(type: string): Fault {
  return new Fault('feature_type_fixed', `The feature is a ${type}. Its type cannot change: use another key.`)
}

export function featureInUse(): Fault {
  return new Fault(
    'feature_in_use',
    'A plan, a grant or the setting devices_feature uses this feature. Remove it from all plans, revoke its grants, and change the setting first.',
  )
}

export function tooManyFeatures(): Fault {
  return new Fault('feature_limit_reached', `A project can have ${MAX_FEATURES} features.`)
}

export function tooManyPlans(): Fault {
  return new Fault('plan_limit_reached', `A project can have ${MAX_PLANS} plans, archived ones included.`)
}

export function planKeyTaken(): Fault {
  return new Fault('plan_key_taken', 'Another plan of the project already has this key.')
}

export function priceMapped(detail: string): Fault {
  return new Fault('price_mapped', `${detail} Remove it from that plan first.`)
}
