CREATE TABLE `vendor_runs` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`connection_id` text NOT NULL,
	`state` text NOT NULL,
	`kinds` text NOT NULL,
	`invoice_months` integer NOT NULL,
	`invoices_since` integer NOT NULL,
	`continues` text,
	`error` text,
	`waiting_until` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`lease_token` text,
	`lease_until` integer,
	`actor` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finished_at` integer,
	PRIMARY KEY(`project_id`, `id`),
	CONSTRAINT "vendor_runs_state" CHECK("vendor_runs"."state" IN ('running', 'waiting', 'done', 'canceled', 'failed'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `vendor_runs_due` ON `vendor_runs` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `vendor_runs_open` ON `vendor_runs` (`project_id`,`connection_id`) WHERE finished_at IS NULL;