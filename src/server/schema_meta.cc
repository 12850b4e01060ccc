// Schemas of what all objects share.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kMetaSchemas = R"(
package io.k8s.apimachinery.pkg.apis.meta.v1
type ObjectMeta | What every object has: its name, labels, owners and history.
1 name string | Name of the object, unique among its kind in the namespace; it cannot be changed.
2 generateName string | Prefix of a name that the server completes when no name is given.
3 namespace string | Namespace that the object lives in; empty for objects of the cluster.
4 selfLink string | No longer used.
5 uid string | Identity of the object, given by the server, never used twice.
6 resourceVersion string | Version of the object; a write that names an old one is refused.
7 generation int64 | Rises with every change of what is wanted.
8 creationTimestamp time | When the object was made.
9 deletionTimestamp *time | When the object is to be gone; set once somebody deletes it.
10 deletionGracePeriodSeconds *int64 | How many seconds the object may take to end.
11 labels {}string | Short pairs of text that objects are selected by.
12 annotations {}string | Pairs of text for tools; they are not selected by.
13 ownerReferences []OwnerReference ~uid | Whose it is; when all owners are gone it is deleted.
14 finalizers []string ~ | Names of those who must let go before the object is removed.
17 managedFields []ManagedFieldsEntry | Who set which fields.
type OwnerReference | Points to an object that owns this one.
5 apiVersion! string | Group and version of the object.
1 kind! string | Kind of the object.
3 name! string | Name of it.
4 uid! string | Identity of the object, unique over all time.
6 controller *bool | Whether this owner is the one that manages the object.
7 blockOwnerDeletion *bool | Whether a foreground deletion of the owner waits for this object.
type ManagedFieldsEntry | The fields that one manager set.
1 manager string | Name of whoever set the fields.
2 operation string | Apply or Update.
3 apiVersion string | Group and version of the object.
4 time *time | When the fields were last set.
6 fieldsType string | Format of the fields; always FieldsV1.
7 fieldsV1 *raw | The fields as a tree of keys.
8 subresource string | The subresource that was written to, if any.
type LabelSelector | Selects objects by their labels; all requirements must hold.
1 matchLabels {}string | Labels that must be there with these values.
2 matchExpressions []LabelSelectorRequirement | Requirements on labels: In, NotIn, Exists, DoesNotExist.
type LabelSelectorRequirement | One requirement on a label.
1 key! string | The key that is meant.
2 operator! string | How the key is compared with the values.
3 values []string | The values to compare with.
type Condition | One aspect of an object's state.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
3 observedGeneration int64 | The generation of the spec that this status was made from.
4 lastTransitionTime! time | When the condition last changed from one status to another.
5 reason! string | Why, as one word in CamelCase.
6 message! string | Why, as a sentence for people.
type DeleteOptions kind /v1 | How an object is deleted.
1 gracePeriodSeconds *int64 | How many seconds the object may take to end; 0 is at once.
2 preconditions *Preconditions | What must hold of the object, or nothing is done.
3 orphanDependents *bool | No longer used; see propagationPolicy.
4 propagationPolicy *string | What becomes of dependents: Orphan, Background or Foreground.
5 dryRun []string | All to change nothing.
6 ignoreStoreReadErrorWithClusterBreakingPotential *bool | Deletes an object that cannot be read.
type Preconditions | What must hold of an object before it is changed.
1 uid *string | Identity of the object, unique over all time.
2 resourceVersion *string | Version of the object.
type FieldSelectorRequirement | One requirement on a field.
1 key! string | The key that is meant.
2 operator! string | How the key is compared with the values.
3 values []string | The values to compare with.
)";

}  // namespace trainyard::server
