/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of the model from which nodes of a partition come. */
#include "reading.h"

bool
read_origins(struct reading *in, struct json list)
{
	struct arena *a = &in->m->arena;
	int n = json_length(list);

	if (n == 0) {
		return !in->r.failed;
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		struct origin o = {
			.name = json_text(json_get(j, "name"), false),
			.op_type = json_text(json_get(j, "op"), true),
			.output = json_text(json_get(j, "output"), false),
			.pass = json_text(json_get(j, "pass"), false),
			.fate = json_text(json_get(j, "why"), false),
		};

		o.index = (int)json_int(json_get(j, "index"), 0, INT32_MAX,
					j.index);
		/* an earlier one, so that no node is within itself */
		o.within = (int)json_int(json_get(j, "within"), 0, j.index - 1,
					 -1);
		json_check_keys(j, "name op output index within pass why");
		o.name = o.name != NULL ? o.name : "";
		o.op_type = o.op_type != NULL ? o.op_type : "";
		if (o.pass != NULL && o.fate == NULL) {
			o.fate = "";
		}
		vec_push(a, &in->g->origins, o);
	}
	in->origins = origins_by_name(in->g);
	return !in->r.failed;
}

bool
read_origin(struct reading *in, struct json j, int *out)
{
	int n = in->g->origins.n, first;
	int64_t at;

	if (cJSON_IsNumber(j.value)) {
		at = json_int(j, 0, in->g->origins.n - 1, -1);
		*out = (int)at;
		return at >= 0;
	}
	if (!cJSON_IsString(j.value)) {
		return json_error(j, "the output of an origin, or its index in "
				     "origins, is expected here");
	}
	first = origins_find(in->origins, n, j.value->valuestring);
	if (first == n) {
		return json_error(j, "no origin has this output");
	}
	*out = in->origins[first].at;
	return true;
}
