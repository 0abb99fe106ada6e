ALTER TABLE `billing_objects` ADD `incomplete` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `billing_objects` ADD `updated` text GENERATED ALWAYS AS (CASE WHEN kind IN ('subscription', 'invoice', 'payment_method')
  THEN coalesce(rtrim(candidates ->> '$[0].body.updated_at', 'Z'), '') END) VIRTUAL;--> statement-breakpoint
CREATE INDEX `billing_changed` ON `billing_objects` (`project_id`,`kind`,`updated`,`vendor_id`,`vendor`) WHERE updated IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_incomplete` ON `billing_objects` (`project_id`,`kind`) WHERE incomplete = 1;