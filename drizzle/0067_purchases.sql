DROP INDEX `billing_changed`;--> statement-breakpoint
ALTER TABLE `billing_objects` DROP COLUMN `updated`;--> statement-breakpoint
ALTER TABLE `billing_objects` ADD `updated` text GENERATED ALWAYS AS (CASE WHEN kind IN ('subscription', 'invoice', 'payment_method')
  OR (kind = 'purchase' AND candidates ->> '$[0].body.status' IS NOT NULL)
  THEN coalesce(rtrim(candidates ->> '$[0].body.updated_at', 'Z'), '') END) VIRTUAL;--> statement-breakpoint
CREATE INDEX `billing_changed` ON `billing_objects` (`project_id`,`kind`,`updated`,`vendor_id`,`vendor`) WHERE updated IS NOT NULL;
