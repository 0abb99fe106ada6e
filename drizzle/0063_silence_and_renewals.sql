CREATE TABLE `overdue_subscriptions` (
	`project_id` text NOT NULL,
	`vendor` text NOT NULL,
	`vendor_id` text NOT NULL,
	`period_end` text NOT NULL,
	PRIMARY KEY(`project_id`, `vendor`, `vendor_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `renewal_counts` (
	`project_id` text NOT NULL,
	`vendor` text NOT NULL,
	`due` integer DEFAULT 0 NOT NULL,
	`overdue` integer DEFAULT 0 NOT NULL,
	`walk` integer NOT NULL,
	`next_due` integer NOT NULL,
	`next_overdue` integer NOT NULL,
	PRIMARY KEY(`project_id`, `vendor`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `connection_hours` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`hour` integer NOT NULL,
	`seen` integer NOT NULL,
	`hours` text NOT NULL,
	`longest` text NOT NULL,
	`gap` integer NOT NULL,
	`surprise` integer NOT NULL,
	`silent_since` integer,
	PRIMARY KEY(`project_id`, `connection_id`)
) WITHOUT ROWID;
